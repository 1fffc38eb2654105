// xlm worker: runs one submitted run in the background (launchers start it), or the runs of a list that a sweep queued.
#include <memory>

#include "base/error.h"
#include "base/stop.h"
#include "cmd/command.h"
#include "experiments/launchers/list_worker.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/process_identity.h"
#include "experiments/worker/core_library.h"
#include "experiments/worker/core_work.h"
#include "experiments/worker/environment.h"
#include "experiments/worker/runner.h"
#include "results/run_folder/journal.h"

namespace xlm {
namespace {

struct WorkerOptions {
  fs::path folder;
  fs::path list;
  std::int64_t threads = 0;
  std::int64_t jobs = 0;
  std::int64_t until = 0;
  std::int64_t pause = 0;
  std::int64_t rank = 0;
  fs::path meeting;
  bool retry = false;
  bool anyway = false;
  bool claimed = false;
};

int do_run(const WorkerOptions& options) {
  WorkSettings settings{.threads = options.threads,
                        .retry = options.retry,
                        .anyway = options.anyway,
                        .command = command_line(),
                        .sink = {.screen = {}, .should_stop = stop_requested, .pause = options.pause},
                        .lock = {}};
  if (options.rank > 0) {
    return take_part(options.folder, core, settings, {.rank = options.rank, .meeting = options.meeting});
  }
  refuse_imported(read_live_run(options.folder));
  if (options.claimed) settings.lock.from = parent_process();
  // Errors are in the journal and in the log, to which launchers redirect standard error.
  return static_cast<int>(execute(options.folder, core, settings).code);
}

int do_list(const WorkerOptions& options, const GlobalOptions& global) {
  LaunchSettings settings{.jobs = options.jobs, .worker = {program_files().executable.string(), "worker"}};
  settings.should_stop = stop_requested;
  if (options.until > 0) {
    const auto end = static_cast<double>(options.until);
    settings.enough_time = [end](double longest) { return wall_seconds() + longest < end; };
  }
  if (!global.quiet) {
    settings.screen = stderr;
    settings.terminal = global.standard_error;
  }
  return share_list(read_work_list(options.list), settings);
}

}  // namespace

std::function<int()> declare_worker(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<WorkerOptions>();
  app.description("Run a submitted run, or the runs of a list (started by launchers)");
  CLI::Option* run = app.add_option("run", options->folder, "Run folder");
  app.add_option("--threads", options->threads, "CPU threads of a run that has not started yet");
  app.add_flag("--retry", options->retry, "Retry a diverged run");
  app.add_flag("--anyway", options->anyway, "Resume even with another program or kind of device");
  app.add_option("--pause", options->pause, "Save and stop once the run has been evaluated at this step")
      ->type_name("STEP");
  app.add_flag("--claimed", options->claimed, "The parent process hands over the run's lock");
  CLI::Option* meeting = app.add_option("--meeting", options->meeting, "Folder where the processes of a run meet")
                             ->type_name("DIR")
                             ->needs(run);
  app.add_option("--rank", options->rank, "Number of this process, from 1; process 0 starts the others")
      ->needs(meeting)
      ->check(CLI::Range(1, 4095))
      ->type_name("N");
  CLI::Option* list =
      app.add_option("--sweep", options->list, "Run this list until no run is left")->type_name("FILE")->excludes(run);
  app.add_option("--jobs", options->jobs, "With --sweep: runs at once (default: one for each GPU, or one)")
      ->check(CLI::Range(1, 4096))
      ->needs(list)
      ->type_name("N");
  app.add_option("--until", options->until,
                 "With --sweep: start no run that would not end by this time (seconds since 1970)")
      ->needs(list)
      ->type_name("TIME");
  app.footer("Exit code with --sweep: 0 no run of the list is left to take, 75 stopped. More: docs/clusters.md");
  return [options, &global] {
    if (options->folder.empty() && options->list.empty()) {
      throw UsageError("worker needs a run folder, or --sweep with a list of runs\nrun 'xlm worker --help' for both");
    }
    install_stop_handlers();
    return options->list.empty() ? do_run(*options) : do_list(*options, global);
  };
}

}  // namespace xlm
