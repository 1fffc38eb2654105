// The runs of a sweep as a list, from which each worker takes the next run that no other has. Workers that a launcher
// starts elsewhere share it as a file in the folder of runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
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
  bool from_file = false;  // which does not say what evaluations are wanted: the journals do

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

/// Gives every run of a list its folder, and notes the evaluations that are wanted of it.
void submit_runs(const WorkList& list);

/// Queues again what failed before: workers that share a list leave alone what failed since. Runs that have a worker
/// are left to it.
void queue_failed_runs(const WorkList& list);

/// The lists that there are in a folder of runs, without damaged ones.
std::vector<WorkList> work_lists(const fs::path& runs);

/// The lists of a folder of runs that have no run left for a worker to take: each is done, has failed, is being done,
/// or somebody wants it stopped.
std::vector<WorkList> finished_lists(const fs::path& runs);

}  // namespace xlm
