// Taking the runs of another folder in. A run's id is the hash of what it is, so a union is made run by run, in any
// order, as often as one likes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace xlm {

enum class MergeOutcome {
  kAdded,       // it was not here
  kUpdated,     // it has come farther there, or was evaluated there, or has a model or checkpoints that were not here
  kSame,        // nothing there is new
  kDoneTwice,   // done in both places, with the same results: what is here stays
  kConflict,    // done in both places, with different results: neither is touched
  kRunning,     // a worker is at it, here or there, or others add to its journal again and again
  kDamaged,     // what is there cannot be read, or has no name of a run
  kUnfinished,  // the rest was not looked at: somebody asked to stop
};
std::string_view name_of(MergeOutcome outcome);

struct MergedRun {
  std::string id;
  MergeOutcome outcome = MergeOutcome::kSame;
  std::string note;  // for people: why
};

enum class MergeHow {
  kCopy,
  kLink,  // models and checkpoints, which nobody changes, are the same files in both places
  kMove,  // runs of which nothing is missing here afterwards are gone there, unless a sweep is at work in their folder
};

struct MergeSettings {
  MergeHow how = MergeHow::kCopy;
  bool dry_run = false;
  std::function<bool()>
      should_stop;  // asked before each run, within large files and archives, and before files are put in place
  std::function<void(double done, double total)> progress;
};

/// The run folders below a folder (itself, or down to three levels), by their ids. Throws DataError where the folder
/// cannot be read.
std::vector<fs::path> find_run_folders(const fs::path& folder);

/// Takes runs into the folder `runs`, which is made where it is missing. What is new is put in place whole. A run that
/// is there already keeps what it has and gets what it lacks, part by part, each in one step and in an order that
/// leaves a run that can be gone on with wherever it is cut off; the next merge does the rest.
std::vector<MergedRun> merge_runs(const std::vector<fs::path>& folders, const fs::path& runs,
                                  const MergeSettings& settings);

/// The same with the runs of an archive (tar, compressed or not; zip). Where it holds a list SHA256SUMS, every file
/// must fit it, or nothing is taken in: throws DataError.
std::vector<MergedRun> merge_archive(const fs::path& archive, const fs::path& runs, const MergeSettings& settings);

}  // namespace xlm
