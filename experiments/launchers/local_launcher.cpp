// Workers on this machine: at most so many at once, each a process of its own with its share of cores or its GPU.
#include <algorithm>
#include <chrono>
#include <deque>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/launchers/launcher.h"
#include "experiments/launchers/worker_process.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/run_lock.h"
#include "experiments/sweeps/sweep_board.h"

namespace xlm {
namespace {

bool may_use_gpu(const std::string& device) { return device == "auto" || device == "cuda"; }

bool has_ended(RunStatus status) {
  return status == RunStatus::kDone || status == RunStatus::kFailed || status == RunStatus::kDiverged;
}

/// One sweep being done. Runs move from `queue_` to a worker and out; those of other workers stay in `elsewhere_` until
/// they end or their worker goes.
class LocalSweep {
 public:
  LocalSweep(const std::vector<SweepRun>& runs, const LaunchSettings& settings)
      : settings_(settings),
        gpus_(visible_gpus()),
        board_({settings.screen, settings.terminal, settings.clock}, runs),
        next_look_(settings.clock()) {
    bool gpu = false;
    for (const SweepRun& run : runs) {
      if (run.action == SweepAction::kRun) queue_.push_back(&run);
      if (run.action == SweepAction::kWait) leave(run);
      gpu = gpu || may_use_gpu(run.planned.options.device);
    }
    if (!gpu) gpus_.clear();
    const std::int64_t automatic = gpus_.empty() ? 1 : std::ssize(gpus_);
    workers_.resize(static_cast<std::size_t>(settings.jobs > 0 ? settings.jobs : automatic));
    threads_ = std::max<std::int64_t>(available_cores() / std::ssize(workers_), 1);
  }

  LaunchReport run() {
    for (;;) {
      reap();
      if (settings_.should_stop && settings_.should_stop()) {
        stop_workers();
      } else {
        look_elsewhere();
        start_workers();
      }
      const bool idle = std::none_of(workers_.begin(), workers_.end(), [](const Slot& slot) { return slot.run; });
      if (idle && (report_.interrupted || (queue_.empty() && elsewhere_.empty()))) return report_;
      board_.update();
      // Workers of other hosts can only be seen in their run folders, which nothing announces.
      std::this_thread::sleep_for(std::chrono::duration<double>(settings_.poll_seconds));
    }
  }

 private:
  struct Slot {
    const SweepRun* run = nullptr;  // null: free
    std::optional<WorkerProcess> process;
  };

  void reap() {
    for (Slot& slot : workers_) {
      if (slot.run == nullptr) continue;
      const std::optional<int> code = slot.process->ended();
      if (!code) continue;
      const SweepRun* run = std::exchange(slot.run, nullptr);
      take_result(*run, *code);
    }
  }

  /// How the run stands; a folder that cannot be read any more must not end the whole sweep.
  RunStatus status_of(const SweepRun& run) {
    try {
      return read_live_run(run.planned.paths.folder).status;
    } catch (const Error& error) {
      report_.ended[run.id()] = error.what();
      return RunStatus::kFailed;
    }
  }

  /// A worker ended. Its journal says how its run stands; where it says nothing, how the process ended does.
  void take_result(const SweepRun& run, int code) {
    if (has_live_worker(run.planned.paths.folder)) return leave(run);  // another one was faster
    const RunStatus status = status_of(run);
    if (has_ended(status) || status == RunStatus::kPreempted) {
      ended(run, status, std::string(name_of(status)));
    } else {
      const std::string how = code > 128 ? fmt::format("its worker was killed by signal {}", code - 128)
                                         : fmt::format("its worker ended with code {}", code);
      report_.ended[run.id()] = how;
      ended(run, RunStatus::kFailed, how);
    }
  }

  void ended(const SweepRun& run, RunStatus status, const std::string& how) {
    board_.ended(run, status, how);
    if (settings_.finished) settings_.finished();
  }

  void stop_workers() {
    if (!std::exchange(report_.interrupted, true)) board_.note("stopping: waiting for the workers to save");
    if (std::exchange(stop_sent_, true)) return;
    for (const Slot& slot : workers_) {
      if (slot.run != nullptr) slot.process->stop();
    }
  }

  void start_workers() {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      while (workers_[i].run == nullptr && !queue_.empty()) {
        const SweepRun* run = queue_.front();
        queue_.pop_front();
        if (has_live_worker(run->planned.paths.folder)) {
          leave(*run);
        } else {
          start(workers_[i], i, *run);
        }
      }
    }
  }

  void start(Slot& slot, std::size_t index, const SweepRun& run) {
    WorkerCommand command{.arguments = settings_.worker, .log = run.planned.paths.log(), .gpu = ""};
    const std::string threads = std::to_string(threads_);
    for (const std::string& argument : {run.planned.paths.folder.string(), std::string("--threads"), threads}) {
      command.arguments.push_back(argument);
    }
    if (settings_.retry) command.arguments.emplace_back("--retry");
    if (settings_.anyway) command.arguments.emplace_back("--anyway");
    if (!gpus_.empty() && may_use_gpu(run.planned.options.device)) command.gpu = gpus_[index % gpus_.size()];
    try {
      slot.process.emplace(command);
      slot.run = &run;
      board_.runs_here(run);
    } catch (const Error& error) {
      report_.ended[run.id()] = error.what();
      ended(run, RunStatus::kFailed, error.what());
    }
  }

  /// Leaves a run to the worker that has it.
  void leave(const SweepRun& run) {
    elsewhere_.push_back(&run);
    board_.runs_elsewhere(run);
  }

  /// Runs that other workers do: drops those that ended, takes over those whose worker is gone.
  void look_elsewhere() {
    if (elsewhere_.empty() || settings_.clock() < next_look_) return;
    next_look_ = settings_.clock() + settings_.elsewhere_seconds;
    for (const SweepRun* run : std::exchange(elsewhere_, {})) {
      if (has_live_worker(run->planned.paths.folder)) {
        elsewhere_.push_back(run);
        continue;
      }
      const RunStatus status = status_of(*run);
      if (has_ended(status)) {
        ended(*run, status, fmt::format("{} (by another worker)", name_of(status)));
      } else {
        queue_.push_back(run);
        board_.waits(*run);
      }
    }
  }

  const LaunchSettings& settings_;
  std::vector<std::string> gpus_;
  std::vector<Slot> workers_;
  std::int64_t threads_ = 1;
  std::deque<const SweepRun*> queue_;
  std::vector<const SweepRun*> elsewhere_;
  SweepBoard board_;
  double next_look_;
  bool stop_sent_ = false;
  LaunchReport report_;
};

class LocalLauncher : public Launcher {
 public:
  LaunchReport launch(const std::vector<SweepRun>& runs, const LaunchSettings& settings) override {
    return LocalSweep(runs, settings).run();
  }
};

}  // namespace

std::unique_ptr<Launcher> make_local_launcher() { return std::make_unique<LocalLauncher>(); }

}  // namespace xlm
