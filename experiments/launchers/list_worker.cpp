// A worker on a work list.
#include "experiments/launchers/list_worker.h"

#include <set>
#include <string>

#include "experiments/launchers/list_growth.h"
#include "experiments/launchers/machine_slots.h"
#include "experiments/launchers/resources.h"
#include "experiments/launchers/slurm.h"
#include "experiments/runs/runs_in_use.h"

namespace xlm {

LaunchReport work_on_list(WorkList list, const LaunchSettings& settings) {
  LaunchReport all;
  std::set<std::string> given_up;
  for (;;) {
    LaunchReport report;
    {
      MachineSlots slots(list, settings);
      report = Scheduler(list, settings, slots).run();
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
