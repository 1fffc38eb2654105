// Starts no worker. Prints the command that starts one, for users and for other schedulers.
#include <fmt/format.h>

#include "base/text.h"
#include "experiments/launchers/launcher.h"

namespace xlm {
namespace {

class ManualLauncher : public Launcher {
 public:
  std::string preview(LaunchRequest& request, std::int64_t /*count*/) override { return how_to_start(request); }

  Launched start(LaunchRequest& request, std::int64_t /*count*/) override {
    return {.text = how_to_start(request), .report = std::nullopt};
  }

 private:
  static std::string how_to_start(const LaunchRequest& request) {
    return fmt::format(
        "start any number of workers, on any machine that sees this folder; each exits when no run is left:\n"
        "  {} worker --sweep {}\n",
        shell_word(request.program.string()), shell_word(request.list.file().string()));
  }
};

}  // namespace

std::unique_ptr<Launcher> make_manual_launcher() { return std::make_unique<ManualLauncher>(); }

}  // namespace xlm
