// Merges the runs of another folder. A run's id is a hash of its content, so runs can be merged one by one, in any
// order, any number of times.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "experiments/collections/merged_record.h"

namespace xlm {

enum class MergeOutcome {
  kAdded,       // it was not here
  kUpdated,     // it has come further there, or has evaluations, a model or checkpoints that were missing here
  kSame,        // nothing there is new
  kDoneTwice,   // done in both places with the same results: the run here stays
  kConflict,    // done in both places with different results: neither is changed
  kRunning,     // a worker is running it, here or there, or other processes keep adding to its journal
  kDamaged,     // it cannot be read, or has no run's name
  kUnfinished,  // not looked at: the merge was asked to stop
};
std::string_view name_of(MergeOutcome outcome);

struct MergedRun {
  std::string id;
  MergeOutcome outcome = MergeOutcome::kSame;
  std::string note;  // why, as text for the user
};

enum class MergeHow {
  kCopy,
  kLink,  // models and checkpoints, which never change, are the same files in both places
  kMove,  // a run that is complete here is removed there, unless a sweep uses its folder
};

struct MergeSettings {
  MergeHow how = MergeHow::kCopy;
  bool dry_run = false;
  std::function<bool()>
      should_stop;  // asked before each run, in large files and archives, and before files are put in place
  std::function<void(double done, double total)> progress;
  std::function<void(const MergedRecord& record)> record;  // told of each search and line that was merged
};

/// The run folders below a folder (itself, or down to three levels), by their ids. Throws DataError if the folder
/// cannot be read.
std::vector<fs::path> find_run_folders(const fs::path& folder);

/// Merges runs into the folder `runs`, which is created if it is missing. A new run appears whole. An existing run
/// keeps what it has and gets what it lacks, part by part, each in one step. Their order keeps the run resumable if the
/// merge is interrupted. The next merge does the rest. The records of searches and lines next to the runs come along.
std::vector<MergedRun> merge_runs(const std::vector<fs::path>& folders, const fs::path& runs,
                                  const MergeSettings& settings);

/// Merges the runs of an archive (tar, compressed or not; zip). If it holds a list SHA256SUMS, every file must match
/// it; otherwise nothing is merged. Throws DataError.
std::vector<MergedRun> merge_archive(const fs::path& archive, const fs::path& runs, const MergeSettings& settings);

}  // namespace xlm
