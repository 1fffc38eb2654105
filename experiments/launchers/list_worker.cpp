// A worker on a work list.
#include "experiments/launchers/list_worker.h"

#include "experiments/launchers/machine_slots.h"
#include "experiments/launchers/resources.h"
#include "experiments/launchers/slurm.h"
#include "experiments/runs/runs_in_use.h"

namespace xlm {

LaunchReport work_on_list(const WorkList& list, const LaunchSettings& settings) {
  MachineSlots slots(list, settings);
  return Scheduler(list, settings, slots).run();
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
