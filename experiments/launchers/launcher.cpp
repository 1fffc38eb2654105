// The only list of launchers.
#include "experiments/launchers/launcher.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {

std::unique_ptr<WorkerHost> make_local_host(const std::vector<SweepRun>& runs, const LaunchSettings& settings);
std::unique_ptr<WorkerQueue> make_slurm_queue(QueueRequest& request);
std::optional<std::vector<QueuedWorker>> slurm_workers(const std::vector<std::string>& lists);
void cancel_slurm_workers(const std::string& list);
std::string slurm_job_state(const std::string& job);
std::unique_ptr<WorkerQueue> make_manual_queue(QueueRequest& request);

const std::vector<LauncherEntry>& launchers() {
  static const std::vector<LauncherEntry> table{
      {"local", "workers on this machine, its cores and GPUs shared out", make_local_host, nullptr},
      {"slurm", "jobs of a Slurm cluster", nullptr, make_slurm_queue, slurm_workers, cancel_slurm_workers,
       slurm_job_state},
      {"manual", "queues the runs alone and says how a worker is started", nullptr, make_manual_queue},
  };
  return table;
}

const LauncherEntry& find_launcher(const std::string& name) {
  std::vector<std::string> names;
  for (const LauncherEntry& entry : launchers()) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  throw UsageError(
      fmt::format("there is no launcher '{}'{}; there is {}", name, did_you_mean(name, names), join(names, ", ")));
}

LaunchReport launch(const LauncherEntry& launcher, const std::vector<SweepRun>& runs, const LaunchSettings& settings) {
  const std::unique_ptr<WorkerHost> host = launcher.make(runs, settings);
  return Scheduler(runs, settings, *host).run();
}

std::optional<std::vector<QueuedWorker>> workers_in_queues(const std::vector<std::string>& lists) {
  std::optional<std::vector<QueuedWorker>> all;
  for (const LauncherEntry& entry : launchers()) {
    const auto found = entry.workers != nullptr ? entry.workers(lists) : std::nullopt;
    if (!found) continue;
    if (!all) all.emplace();
    all->insert(all->end(), found->begin(), found->end());
  }
  return all;
}

std::string job_state_in_queues(const std::string& job) {
  for (const LauncherEntry& entry : launchers()) {
    std::string state = entry.job_state != nullptr ? entry.job_state(job) : "";
    if (!state.empty()) return state;
  }
  return "";
}

void cancel_waiting_workers(const std::string& list) {
  for (const LauncherEntry& entry : launchers()) {
    if (entry.cancel != nullptr) entry.cancel(list);
  }
}

}  // namespace xlm
