// The runs of a sweep as a list, from which each worker takes the next run without a worker. A file in the folder of
// runs shares it with workers that a launcher starts elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/sweeps/early_stopping.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// How a search's list grows: its configuration, planned again by every worker.
struct ListGrowth {
  std::string configuration;  // as YAML
  std::string source;         // the file that it was read from, for messages
  fs::path folder;            // to which its relative paths belong
  std::string mark = {};      // of who wrote it (own_mark), if it was read from a list

  std::string text() const { return configuration + "\n" + source + "\n" + folder.string(); }
};

struct WorkList {
  std::string name;               // names the sweep, its list and its folder: "spans-3fa9c1d2"
  fs::path runs;                  // the folder of runs, absolute
  std::vector<SweepRun> items;    // in the order of the plan
  std::int64_t cores = 0;         // of a worker; 0: all that it may use
  std::int64_t runs_per_gpu = 0;  // 0: as many as fit
  bool anyway = false;
  std::optional<EarlyStopping> early_stopping;
  std::optional<ListGrowth> growth;  // of a search
  bool from_file = false;            // the file does not name the wanted evaluations; the journals do

  /// The folder of the list, its batch script and its workers' logs.
  fs::path folder() const { return runs / ".workers" / name; }
  fs::path file() const { return folder() / "work.json"; }
};

/// The list of a sweep. The same sweep in the same folder of runs has the same name; a search keeps that of its first
/// round.
WorkList make_work_list(const std::string& experiment, const fs::path& runs, std::vector<SweepRun> items);

/// Writes list.file(), whole.
void write_work_list(const WorkList& list);

/// Reads a list. Of each run it has the folder, the device and the steps. The folder of runs may have moved. Throws
/// DataError if the file is missing or damaged.
WorkList read_work_list(const fs::path& file);

/// Creates the folder of every run of a list, and records the evaluations that the sweep wants of it.
void submit_runs(const WorkList& list);

/// Queues failed runs again: workers that share a list do not retry runs that failed after it. Skips runs that have a
/// worker.
void queue_failed_runs(const WorkList& list);

/// The lists in a folder of runs, without damaged ones.
std::vector<WorkList> work_lists(const fs::path& runs);

/// The lists of a folder of runs that have no run left for a worker. Each run is done, has failed, has a worker, or is
/// asked to stop. A list that grows is finished only if one of its runs is asked to stop.
std::vector<WorkList> finished_lists(const fs::path& runs);

}  // namespace xlm
