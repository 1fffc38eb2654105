// From options to a run of one folder of runs: names become absolute, contents are looked at, and the id follows.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/files.h"
#include "experiments/configuration/run_id.h"
#include "experiments/runs/model_locator.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// Whether a run folder holds this work, as its own configuration and data say; nothing where they cannot be read.
std::optional<bool> holds_run(const fs::path& folder, const RunConfiguration& options, const RunInputs& inputs);

/// A run that is to be done, with everything that decides about its id.
struct PlannedRun {
  RunConfiguration options;  // paths are absolute, init_from is a model folder
  RunInputs inputs;
  RunPaths paths;
  std::string source_setting;  // names what the run it begins from is but for its seed; empty: it begins from none

  std::string id() const { return paths.folder.filename().string(); }
  /// The run beside it whose model it begins from; empty where it begins from none, or from one elsewhere.
  std::string source_id() const;
};

/// Turns options into runs of one folder of runs; data and weights that several runs share are looked at once.
class Planner {
 public:
  explicit Planner(fs::path runs) : runs_(std::move(runs)) {}

  /// The run whose model the options begin from may be one that is still to be done, where `tense` says so. Throws
  /// DataError and UsageError for what the options name and is not there, and DataError where the run's folder holds
  /// other work.
  PlannedRun plan(RunConfiguration options, ModelTense tense = ModelTense::kPresent);
  /// The same for options that begin from the model that `source`, a planned run, will have.
  PlannedRun plan_after(const PlannedRun& source, RunConfiguration options);

 private:
  PlannedRun plan_located(RunConfiguration options, std::string source_setting);
  RunInputs look_at_inputs(const RunConfiguration& options) const;
  fs::path folder_for(const RunConfiguration& options, const RunInputs& inputs);

  fs::path runs_;
  std::map<std::string, RunInputs> inputs_;
};

}  // namespace xlm
