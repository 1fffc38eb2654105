// Launchers: where the workers of a sweep are started. A new one is a WorkerHost, which starts them itself and stays,
// or a WorkerQueue, which has them started later; and a line in launchers().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/launchers/scheduler.h"
#include "experiments/launchers/worker_queue.h"

namespace xlm {

struct LauncherEntry {
  std::string_view name;
  std::string_view summary;
  /// `runs` says what they need (their devices); `settings` outlive the host.
  std::unique_ptr<WorkerHost> (*make)(const std::vector<SweepRun>& runs, const LaunchSettings& settings);
  /// For a launcher without a WorkerHost. `request` outlives the queue, which sets what it decides itself: list.cores,
  /// save. Throws Error where the queue would not take such workers, or does not answer.
  std::unique_ptr<WorkerQueue> (*make_queue)(QueueRequest& request);
  /// For a queue that can be asked about its workers, and told to drop those that wait, by the names of their lists:
  /// see workers_in_queues and cancel_waiting_workers.
  std::optional<std::vector<QueuedWorker>> (*workers)(const std::vector<std::string>& lists) = nullptr;
  void (*cancel)(const std::string& list) = nullptr;
  /// And about a job that is gone: see job_state_in_queues.
  std::string (*job_state)(const std::string& job) = nullptr;
};

const std::vector<LauncherEntry>& launchers();

/// Throws UsageError with the nearest right name.
const LauncherEntry& find_launcher(const std::string& name);

/// Does the runs of a sweep with that launcher's workers (see Scheduler::run). It has a WorkerHost.
LaunchReport launch(const LauncherEntry& launcher, const std::vector<SweepRun>& runs, const LaunchSettings& settings);

/// Workers of some lists, by the lists' names, that wait or run, in all queues that can be asked from here; nothing
/// where none can. Throws Error where one does not answer.
std::optional<std::vector<QueuedWorker>> workers_in_queues(const std::vector<std::string>& lists);

/// What a queue that can be asked from here says of a job, as ProcessIdentity names it, in Slurm's words; "" where none
/// knows it.
std::string job_state_in_queues(const std::string& job);

/// Takes those workers of a list that have not started out of all queues.
void cancel_waiting_workers(const std::string& list);

}  // namespace xlm
