// Workers on this machine: at most so many at once, each a process of its own with its share of cores or its GPU.
#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "experiments/launchers/launcher.h"
#include "experiments/launchers/resources.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/worker_process.h"

namespace xlm {
namespace {

bool may_use_gpu(const SweepRun& run) {
  const std::string& device = run.planned.options.device;
  return device == "auto" || device == "cuda";
}

class LocalHost : public WorkerHost {
 public:
  LocalHost(const std::vector<SweepRun>& runs, const LaunchSettings& settings) : settings_(settings) {
    if (std::any_of(runs.begin(), runs.end(), may_use_gpu)) gpus_ = visible_gpus();
    processes_ = most_processes(runs);
    for (const SweepRun& run : runs) {
      if (packs() && run.status == name_of(RunStatus::kDone)) learn_from(run);
    }
  }

  std::size_t places() const override {
    std::int64_t count = settings_.jobs;
    if (count == 0) count = gpus_.empty() ? 1 : std::max<std::int64_t>(gpu_places(), 1) * runs_per_gpu();
    return static_cast<std::size_t>(count);
  }

  void start(std::size_t place, const SweepRun& run, std::int64_t pause) override {
    const std::int64_t cores = settings_.cores > 0 ? settings_.cores : available_cores();
    const std::int64_t threads = std::max<std::int64_t>(cores / static_cast<std::int64_t>(places()), 1);
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
  }

  std::optional<int> ended(std::size_t place) override {
    Worker& worker = workers_.at(place);
    const std::optional<int> code = worker.process->ended();
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

  bool packs() const { return !gpus_.empty() && settings_.jobs == 0 && settings_.runs_per_gpu == 0; }

  /// Until a run has shown what it needs, each GPU has one.
  std::int64_t runs_per_gpu() const {
    return settings_.runs_per_gpu > 0 ? settings_.runs_per_gpu : fitting_.value_or(1);
  }

  /// As many share a GPU as it has memory for where all take what the largest takes.
  void learn_from(const SweepRun& run) {
    try {
      const std::optional<std::int64_t> count = runs_that_fit(read_run(run.planned.paths.folder));
      if (count) fitting_ = std::min(fitting_.value_or(*count), *count);
    } catch (const Error&) {
      // A damaged folder says nothing.
    }
  }

  const LaunchSettings& settings_;
  std::vector<std::string> gpus_;
  std::int64_t processes_ = 1;             // of a run, at most
  std::map<std::size_t, Worker> workers_;  // by place
  std::optional<std::int64_t> fitting_;
};

}  // namespace

std::unique_ptr<WorkerHost> make_local_host(const std::vector<SweepRun>& runs, const LaunchSettings& settings) {
  return std::make_unique<LocalHost>(runs, settings);
}

}  // namespace xlm
