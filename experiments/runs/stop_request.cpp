// A request to stop one run.
#include "experiments/runs/stop_request.h"

namespace xlm {
namespace {

fs::path request_file(const fs::path& run_folder) { return run_folder / "stop"; }

}  // namespace

void request_stop(const fs::path& run_folder) { write_file(request_file(run_folder), ""); }

bool is_stop_requested(const fs::path& run_folder) {
  std::error_code ignored;
  return fs::exists(request_file(run_folder), ignored);
}

void withdraw_stop(const fs::path& run_folder) {
  std::error_code error;
  fs::remove(request_file(run_folder), error);
  if (error) throw_file_error("remove", request_file(run_folder), error.value());
}

}  // namespace xlm
