// The status of a run's folder.
#include "experiments/sweeps/folder_status.h"

#include "base/error.h"
#include "experiments/runs/live_run.h"

namespace xlm {

FolderStatus status_of_folder(const fs::path& folder) {
  if (!fs::exists(folder)) return {};
  try {
    return {.recorded = read_live_run(folder).status};
  } catch (const Error&) {
    return {.recorded = {}, .is_damaged = true};
  }
}

std::string_view name_of(const FolderStatus& status) {
  if (status.recorded) return name_of(*status.recorded);
  return status.is_damaged ? "damaged" : "new";
}

}  // namespace xlm
