// Workers on this machine: at most so many at once, each a process of its own with its share of cores or its GPU.
#include <algorithm>

#include "experiments/launchers/launcher.h"
#include "experiments/launchers/worker_process.h"
#include "experiments/runs/machine_resources.h"

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
    const std::int64_t automatic = gpus_.empty() ? 1 : std::ssize(gpus_);
    workers_.resize(static_cast<std::size_t>(settings.jobs > 0 ? settings.jobs : automatic));
    const std::int64_t cores = settings.cores > 0 ? settings.cores : available_cores();
    threads_ = std::max<std::int64_t>(cores / std::ssize(workers_), 1);
  }

  std::size_t places() const override { return workers_.size(); }

  void start(std::size_t place, const SweepRun& run, std::int64_t pause) override {
    WorkerCommand command{.arguments = settings_.worker, .log = run.planned.paths.log(), .gpu = ""};
    const std::string threads = std::to_string(threads_);
    for (const std::string& argument : {run.planned.paths.folder.string(), std::string("--threads"), threads}) {
      command.arguments.push_back(argument);
    }
    if (settings_.retry) command.arguments.emplace_back("--retry");
    if (settings_.shared) command.arguments.emplace_back("--claimed");
    if (pause > 0) command.arguments.insert(command.arguments.end(), {"--pause", std::to_string(pause)});
    if (settings_.anyway) command.arguments.emplace_back("--anyway");
    if (!gpus_.empty() && may_use_gpu(run)) command.gpu = gpus_[place % gpus_.size()];
    workers_[place].emplace(command);
  }

  std::optional<int> ended(std::size_t place) override { return workers_[place]->ended(); }

  void stop(std::size_t place) override { workers_[place]->stop(); }

 private:
  const LaunchSettings& settings_;
  std::vector<std::string> gpus_;
  std::vector<std::optional<WorkerProcess>> workers_;
  std::int64_t threads_ = 1;
};

}  // namespace

std::unique_ptr<WorkerHost> make_local_host(const std::vector<SweepRun>& runs, const LaunchSettings& settings) {
  return std::make_unique<LocalHost>(runs, settings);
}

}  // namespace xlm
