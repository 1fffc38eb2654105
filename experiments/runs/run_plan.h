// From options to a run of one folder of runs: names become absolute, contents are looked at, and the id follows.
#pragma once

#include <map>
#include <string>

#include "base/files.h"
#include "core/api/interface.h"
#include "experiments/configuration/run_id.h"
#include "results/run_folder/run_folder.h"

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

}  // namespace xlm
