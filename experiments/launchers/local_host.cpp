// Workers on this machine: at most so many at once, each a process of its own with its share of cores or its GPU.
#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/memory_limit.h"
#include "base/text.h"
#include "experiments/launchers/launcher.h"
#include "experiments/launchers/resources.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/worker/hosts.h"
#include "experiments/worker/worker_process.h"

namespace xlm {
namespace {

bool may_use_gpu(const SweepRun& run) {
  const std::string& device = run.planned.options.device;
  return device == "auto" || device == "cuda";
}

constexpr std::int64_t kCoresOfRun = 4;  // more of them are better used by more runs

class LocalHost : public WorkerHost {
 public:
  LocalHost(const std::vector<SweepRun>& runs, const LaunchSettings& settings) : settings_(settings) {
    if (std::any_of(runs.begin(), runs.end(), may_use_gpu)) gpus_ = visible_gpus();
    processes_ = most_processes(runs);
    spread_ = is_spread(processes_);
    if (spread_) processes_ /= job_nodes();
    cores_ = settings_.cores > 0 ? settings_.cores : available_cores();
    for (const SweepRun& run : runs) {
      if (run.action == SweepAction::kRun) ++left_;
      if (packs() && run.status == name_of(RunStatus::kDone)) learn_from(run);
    }
  }

  std::size_t places() const override {
    if (settings_.jobs > 0) return static_cast<std::size_t>(settings_.jobs);
    if (spread_) return 1;  // its processes on other nodes take the GPUs of those in their order
    if (gpus_.empty()) return static_cast<std::size_t>(settings_.shared ? 1 : std::min(fitting(), cpu_places()));
    return static_cast<std::size_t>(std::max<std::int64_t>(gpu_places(), 1) * runs_per_gpu());
  }

  void start(std::size_t place, const SweepRun& run, std::int64_t pause) override {
    const std::int64_t threads = std::max<std::int64_t>(cores_ / at_once(), 1);
    WorkerCommand command{.arguments = settings_.worker, .log = run.planned.paths.log(), .gpu = ""};
    for (const std::string& argument :
         {run.planned.paths.folder.string(), std::string("--threads"), std::to_string(threads)}) {
      command.arguments.push_back(argument);
    }
    if (settings_.retry) command.arguments.emplace_back("--retry");
    if (settings_.shared) command.arguments.emplace_back("--claimed");
    if (pause > 0) command.arguments.insert(command.arguments.end(), {"--pause", std::to_string(pause)});
    if (settings_.anyway) command.arguments.emplace_back("--anyway");
    if (!gpus_.empty() && may_use_gpu(run)) command.gpu = gpus_of(place);
    Worker& worker = workers_[place];
    worker.process.emplace(command);
    worker.run = &run;
    ++busy_;
    left_ = std::max<std::int64_t>(left_ - 1, 0);
  }

  std::optional<int> ended(std::size_t place) override {
    Worker& worker = workers_.at(place);
    const std::optional<int> code = worker.process->ended();
    if (code) --busy_;
    if (code && packs()) learn_from(*worker.run);
    return code;
  }

  void stop(std::size_t place) override { workers_.at(place).process->stop(); }

 private:
  struct Worker {
    std::optional<WorkerProcess> process;
    const SweepRun* run = nullptr;
  };

  /// Where each run has a GPU for every one of its processes.
  std::int64_t gpu_places() const { return std::ssize(gpus_) / processes_; }

  std::string gpus_of(std::size_t place) const {
    const std::size_t places = static_cast<std::size_t>(std::max<std::int64_t>(gpu_places(), 1));
    const std::size_t count = std::min(static_cast<std::size_t>(processes_), gpus_.size());
    const auto begin = gpus_.begin() + static_cast<std::ptrdiff_t>(place % places * count);
    return join({begin, begin + static_cast<std::ptrdiff_t>(count)}, ",");
  }

  /// How many runs share the cores with the one that is about to begin, itself among them.
  std::int64_t at_once() const {
    const auto most = static_cast<std::int64_t>(places());
    return settings_.jobs > 0 || !gpus_.empty()
               ? most
               : std::clamp<std::int64_t>(busy_ + std::max<std::int64_t>(left_, 1), 1, most);
  }

  /// Two runs at once get more done than one after the other with all cores, as long as each has one for every process.
  std::int64_t cpu_places() const {
    const std::int64_t pairs = cores_ >= 2 * processes_ ? 2 : 1;
    return std::max(cores_ / (kCoresOfRun * processes_), pairs);
  }

  /// Whether it matters what memory runs take.
  bool packs() const {
    // Runs that pause at rungs all begin before one is done, and go on with the cores that they began with: all.
    const bool on_cpu = !settings_.shared && !settings_.early_stopping;
    return settings_.jobs == 0 && (gpus_.empty() ? on_cpu : settings_.runs_per_gpu == 0);
  }

  std::int64_t runs_per_gpu() const { return settings_.runs_per_gpu > 0 ? settings_.runs_per_gpu : fitting(); }

  /// Runs at once for which a GPU, or this machine, has memory; one until a run has shown what it needs.
  std::int64_t fitting() const { return fitting_.value_or(1); }

  /// As many fit as there is memory for where all take what the largest takes.
  void learn_from(const SweepRun& run) {
    try {
      const std::optional<std::int64_t> count =
          runs_that_fit(read_run(run.planned.paths.folder), !gpus_.empty(), memory_);
      if (count) fitting_ = std::min(fitting_.value_or(*count), *count);
    } catch (const Error&) {
      // A damaged folder says nothing.
    }
  }

  const LaunchSettings& settings_;
  std::vector<std::string> gpus_;
  std::int64_t processes_ = 1;  // of a run, at most, on this machine
  bool spread_ = false;         // runs have others on the other nodes of this worker's job
  std::int64_t cores_ = 1;      // that all runs share
  std::int64_t busy_ = 0;       // places that are taken
  std::int64_t left_ = 0;       // runs that have not begun
  double memory_ = static_cast<double>(memory_limit());
  std::map<std::size_t, Worker> workers_;  // by place
  std::optional<std::int64_t> fitting_;
};

}  // namespace

std::unique_ptr<WorkerHost> make_local_host(const std::vector<SweepRun>& runs, const LaunchSettings& settings) {
  return std::make_unique<LocalHost>(runs, settings);
}

}  // namespace xlm
