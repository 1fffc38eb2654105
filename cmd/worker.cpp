// xlm worker RUN_FOLDER: does one submitted run in the background; launchers start it.
#include <memory>

#include "base/stop.h"
#include "cmd/command.h"
#include "experiments/runs/core_library.h"
#include "experiments/runs/environment.h"
#include "experiments/runs/runner.h"

namespace xlm {

std::function<int()> declare_worker(CLI::App& app, const GlobalOptions& /*global*/) {
  struct Options {
    fs::path folder;
    std::int64_t threads = 0;
    bool retry = false;
    bool anyway = false;
  };
  const auto options = std::make_shared<Options>();
  app.add_option("run", options->folder, "Run folder")->required();
  app.add_option("--threads", options->threads, "CPU threads of a run that has not started yet");
  app.add_flag("--retry", options->retry, "Try a diverged run again");
  app.add_flag("--anyway", options->anyway, "Go on with another program or kind of device than the run began with");
  return [options] {
    install_stop_handlers();
    const WorkSettings settings{.threads = options->threads,
                                .retry = options->retry,
                                .anyway = options->anyway,
                                .command = command_line(),
                                .sink = {.screen = {}, .should_stop = stop_requested},
                                .lock = {}};
    // What went wrong is in the journal and the log, which is also where this process's standard error goes.
    return static_cast<int>(execute(options->folder, core, settings).code);
  };
}

}  // namespace xlm
