// The list of runs that workers of a cluster share: a file in the folder of runs, from which each of them takes the
// next run that nobody has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/launchers/scheduler.h"
#include "experiments/sweeps/early_stopping.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

struct WorkList {
  std::string name;               // of the sweep, its list of runs and their folder: "spans-3fa9c1d2"
  fs::path runs;                  // the folder of runs, absolute
  std::vector<SweepRun> items;    // in the order of the plan
  std::int64_t cores = 0;         // of a worker; 0: all that it may use
  std::int64_t runs_per_gpu = 0;  // 0: as many as fit
  bool anyway = false;
  std::optional<EarlyStopping> early_stopping;

  /// Where the list, its batch script and the logs of its workers are.
  fs::path folder() const { return runs / ".workers" / name; }
  fs::path file() const { return folder() / "work.json"; }
};

/// The list of a sweep. The same sweep on the same folder of runs has the same name.
WorkList make_work_list(const std::string& experiment, const fs::path& runs, std::vector<SweepRun> items);

/// Writes list.file(), whole.
void write_work_list(const WorkList& list);

/// Reads one; of every run it holds the folder, the device and the steps. The folder of runs may have moved. Throws
/// DataError where it is missing or damaged.
WorkList read_work_list(const fs::path& file);

/// Makes the runs of a list ready to be claimed: every run that is to be done gets its folder, and what failed is
/// queued again, for workers leave alone what failed since. Runs that have a worker are left to it.
void submit_runs(const WorkList& list);

/// The lists that there are in a folder of runs, without damaged ones.
std::vector<WorkList> work_lists(const fs::path& runs);

/// The lists of a folder of runs that have no run left for a worker to take: each is done, has failed, is being done,
/// or somebody wants it stopped.
std::vector<WorkList> finished_lists(const fs::path& runs);

/// Does runs of a list, beside other workers, until none is left or it is asked to stop. Returns kDone, or kStopped
/// where it has left runs undone. Of `settings` count jobs, should_stop, enough_time and how to start a worker.
ExitCode do_work_list(const WorkList& list, LaunchSettings settings);

}  // namespace xlm
