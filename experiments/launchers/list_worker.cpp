// A worker on a work list.
#include "experiments/launchers/list_worker.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/machine.h"
#include "base/memory_limit.h"
#include "base/text.h"
#include "experiments/launchers/list_growth.h"
#include "experiments/launchers/resources.h"
#include "experiments/launchers/slurm.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/runs_in_use.h"
#include "experiments/worker/worker_process.h"

namespace xlm {
namespace {

constexpr std::int64_t kCoresOfRun = 4;  // a run gains more from another run than from more cores

bool may_use_gpu(const SweepRun& run) {
  const std::string& device = run.planned.options.device;
  return device == "auto" || device == "cuda";
}

/// The GPUs that this process may use, if any run may use a GPU.
std::vector<std::string> gpus_for(const std::vector<SweepRun>& runs) {
  return std::ranges::any_of(runs, may_use_gpu) ? visible_gpus() : std::vector<std::string>();
}

/// Slots of this machine: a limited number of parallel runs, each a process with its share of cores, or its GPUs.
class MachineSlots : public RunSlots {
 public:
  /// Both arguments outlive the slots.
  MachineSlots(const WorkList& list, const LaunchSettings& settings)
      : list_(list), settings_(settings), gpus_(gpus_for(list.items)), processes_(most_processes(list.items)) {
    cores_ = list.cores > 0 ? list.cores : available_cores();
    for (const SweepRun& run : list.items) {
      if (run.action == SweepAction::kRun) ++left_;
      if (limits_by_memory() && run.status == RunStatus::kDone) learn_from(run);
    }
  }

  std::size_t count() const override {
    if (settings_.jobs > 0) return static_cast<std::size_t>(settings_.jobs);
    if (gpus_.empty()) return static_cast<std::size_t>(std::min(fitting(), slots_with_cores()));
    return static_cast<std::size_t>(std::max<std::int64_t>(slots_with_gpus(), 1) * runs_per_gpu());
  }

  void start(std::size_t slot, const RunStart& start) override {
    const SweepRun& run = *start.run;
    const std::int64_t threads = std::max<std::int64_t>(cores_ / runs_at_once(), 1);
    WorkerCommand command{.arguments = settings_.worker, .log = run.planned.paths.log(), .gpu = ""};
    for (const std::string& argument :
         {run.planned.paths.folder.string(), std::string("--threads"), std::to_string(threads)}) {
      command.arguments.push_back(argument);
    }
    if (settings_.retry) command.arguments.emplace_back("--retry");
    if (start.claimed) command.arguments.emplace_back("--claimed");
    if (start.pause > 0) command.arguments.insert(command.arguments.end(), {"--pause", std::to_string(start.pause)});
    if (list_.anyway) command.arguments.emplace_back("--anyway");
    if (!gpus_.empty() && may_use_gpu(run)) command.gpu = gpus_of(slot);
    Worker& worker = workers_[slot];
    worker.process.emplace(command);
    worker.run = &run;
    worker.next_look = 0;
    worker.looked_up_to = 0;
    worker.has_shown_memory = false;
    ++busy_;
    left_ = std::max<std::int64_t>(left_ - 1, 0);
  }

  std::optional<int> ended(std::size_t slot) override {
    Worker& worker = workers_.at(slot);
    const std::optional<int> code = worker.process->ended();
    if (code) --busy_;
    if (code && limits_by_memory()) learn_from(*worker.run);
    if (!code) look_at(worker);
    return code;
  }

  void stop(std::size_t slot) override { workers_.at(slot).process->stop(); }

 private:
  struct Worker {
    std::optional<WorkerProcess> process;
    const SweepRun* run = nullptr;
    double next_look = 0;          // at the journal, for what the run takes
    std::size_t looked_up_to = 0;  // of the journal, in bytes
    bool has_shown_memory = false;
  };

  /// As many slots as there are GPUs for all processes of each run.
  std::int64_t slots_with_gpus() const { return std::ssize(gpus_) / processes_; }

  /// Two runs in parallel are faster than two in sequence on all cores, as long as each process has a core.
  std::int64_t slots_with_cores() const {
    const std::int64_t pairs = cores_ >= 2 * processes_ ? 2 : 1;
    return std::max(cores_ / (kCoresOfRun * processes_), pairs);
  }

  std::string gpus_of(std::size_t slot) const {
    const std::size_t slots = static_cast<std::size_t>(std::max<std::int64_t>(slots_with_gpus(), 1));
    const std::size_t count = std::min(static_cast<std::size_t>(processes_), gpus_.size());
    const auto begin = gpus_.begin() + static_cast<std::ptrdiff_t>(slot % slots * count);
    return join({begin, begin + static_cast<std::ptrdiff_t>(count)}, ",");
  }

  /// How many runs will share the cores, including the one about to start.
  std::int64_t runs_at_once() const {
    const auto most = static_cast<std::int64_t>(count());
    return settings_.jobs > 0 || !gpus_.empty()
               ? most
               : std::clamp<std::int64_t>(busy_ + std::max<std::int64_t>(left_, 1), 1, most);
  }

  /// Whether the memory of runs matters. It does not for runs on the processor that pause at rungs. All of them begin
  /// before one is done, and they resume with the cores that they began with: all.
  bool limits_by_memory() const {
    return settings_.jobs == 0 && (gpus_.empty() ? !list_.early_stopping : list_.runs_per_gpu == 0);
  }

  std::int64_t runs_per_gpu() const { return list_.runs_per_gpu > 0 ? list_.runs_per_gpu : fitting(); }

  std::int64_t fitting() const { return fitting_.value_or(1); }
  /// Computes how many runs fit in memory if all take as much as the largest. Returns whether the run tells what it
  /// takes.
  bool learn_from(const SweepRun& run) {
    try {
      const std::optional<std::int64_t> count =
          runs_that_fit(read_run(run.planned.paths.folder), !gpus_.empty(), memory_);
      if (count) fitting_ = std::min(fitting_.value_or(*count), *count);
      return count.has_value();
    } catch (const Error&) {
      return false;  // a damaged folder tells nothing
    }
  }

  /// Learns from a run that trains, once it has journaled the memory of its first steps. Only on GPUs, which a small
  /// run leaves idle: on the processor the first run has all cores to its end, and others would take them from it.
  void look_at(Worker& worker) {
    constexpr std::string_view kMemory = "\"peak_memory\"";
    if (worker.has_shown_memory || gpus_.empty() || !limits_by_memory()) return;
    const double now = settings_.clock();
    if (now < worker.next_look) return;
    worker.next_look = now + settings_.elsewhere_seconds;
    try {
      const MappedFile journal(worker.run->planned.paths.journal());
      const std::size_t from = std::exchange(worker.looked_up_to, journal.size());
      const std::size_t overlap = std::min(from, kMemory.size());  // its name may have been half written
      if (journal.text().find(kMemory, from - overlap) == std::string_view::npos) return;
      worker.has_shown_memory = learn_from(*worker.run);
    } catch (const Error&) {
      // It may come later.
    }
  }

  const WorkList& list_;
  const LaunchSettings& settings_;
  std::vector<std::string> gpus_;
  std::int64_t processes_ = 1;  // the most that a run has
  std::int64_t cores_ = 1;      // shared by all runs
  std::int64_t busy_ = 0;       // taken slots
  std::int64_t left_ = 0;       // runs that have not begun
  double memory_ = static_cast<double>(memory_limit());
  std::map<std::size_t, Worker> workers_;  // by slot
  std::optional<std::int64_t> fitting_;    // parallel runs that fit in memory; empty: no run has shown what it needs
};

}  // namespace

LaunchReport work_on_list(WorkList list, const LaunchSettings& settings) {
  LaunchReport all;
  std::set<std::string> given_up;
  for (;;) {
    LaunchReport report;
    {
      MachineSlots slots(list, settings);
      report = do_list(list, settings, slots);
    }
    for (const auto& [run, how] : report.ended) given_up.insert(run);
    all.ended.merge(report.ended);
    all.interrupted = report.interrupted;
    if (report.interrupted) return all;
    const Growth growth = grow(list, settings, given_up);
    all.interrupted = growth == Growth::kStopped;
    if (growth != Growth::kWork) return all;
  }
}

ExitCode share_list(const WorkList& list, LaunchSettings settings) {
  const RunsInUse in_use(list.runs, RunsInUse::By::kSweep);
  settings.attended = false;
  // A job's name begins with its cluster's name.
  settings.job_state = [](const std::string& job) { return job_state(job.substr(job.find(':') + 1)); };
  if (settings.jobs == 0 && gpus_for(list.items).empty()) settings.jobs = 1;
  if (settings.enough_time) settings.seconds_per_step = pace_of(list.items, kRunsLookedAt).step;
  return work_on_list(list, settings).interrupted ? kStopped : kDone;
}

}  // namespace xlm
