// One worker, in this process, that does its runs on this machine.
#include "experiments/launchers/launcher.h"
#include "experiments/launchers/list_worker.h"

namespace xlm {
namespace {

class LocalLauncher : public Launcher {
 public:
  std::string preview(LaunchRequest& /*request*/, std::int64_t /*count*/) override { return ""; }

  Launched start(LaunchRequest& request, std::int64_t /*count*/) override {
    request.settings.worker = {request.program.string(), "worker"};
    return {.text = "", .report = work_on_list(request.list, request.settings)};
  }
};

}  // namespace

std::unique_ptr<Launcher> make_local_launcher() { return std::make_unique<LocalLauncher>(); }

}  // namespace xlm
