// Submitting a run: its folder appears, whole, with everything that a worker will go by.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "core/interface.h"
#include "experiments/identity.h"
#include "results/run_folder.h"

namespace xlm {

/// A run that is to be done, with everything that decides about its id.
struct PlannedRun {
  RunOptions options;  // paths are absolute, init_from is a model folder
  RunInputs inputs;
  RunPaths paths;

  std::string id() const { return paths.folder.filename().string(); }
};

/// Turns options into runs of one folder of runs; data and weights that several runs share are looked at once.
class Planner {
 public:
  explicit Planner(fs::path runs) : runs_(std::move(runs)) {}

  /// Throws DataError and UsageError for what the options name and is not there.
  PlannedRun plan(RunOptions options);

 private:
  fs::path runs_;
  std::map<std::string, RunInputs> inputs_;
};

/// What a run folder is made of.
struct NewRun {
  std::string config;  // text of config.yaml
  Json environment;
  std::vector<std::pair<std::string, Json>> records;  // type and fields of the journal's first records
};

/// Makes a run folder, whole or not at all; false when it exists already.
bool create_run_folder(const fs::path& folder, const NewRun& content);

/// Makes the run folder, whole or not at all, with its resolved configuration and state queued. Where it exists already
/// the run is only counted to one more experiment, and an unfinished one takes over where and how it is to be done.
void submit(const PlannedRun& run);

/// A run with its true state: running only where a live worker is at it, otherwise stale.
Run read_live_run(const fs::path& folder);

/// Step of the newest checkpoint, or 0.
std::int64_t checkpoint_step(const Run& run);

}  // namespace xlm
