// Turns options into runs of one folder of runs: makes names absolute, reads contents, computes the id.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/configuration/best_of.h"
#include "experiments/configuration/run_id.h"
#include "experiments/runs/branch.h"
#include "experiments/runs/model_locator.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// Whether the configuration and data of a run folder are those of this work. Returns nullopt if they cannot be read.
std::optional<bool> holds_run(const fs::path& folder, const RunConfiguration& options, const RunInputs& inputs);
/// The same, if `config` is the text of its config.yaml.
std::optional<bool> holds_run(const fs::path& folder, const std::string& config, const RunConfiguration& options,
                              const RunInputs& inputs);

/// A run to be done, with everything that its id depends on.
struct PlannedRun {
  RunConfiguration options;  // paths are absolute, init_from is a model folder or a checkpoint
  RunInputs inputs;
  RunPaths paths;
  std::string source_setting;  // names the run it begins from, whatever its seed; empty: it begins from none
  std::optional<Branch> branch = std::nullopt;  // if it goes on from another run, and has no folder yet
  std::vector<RecordedChoice> choices = {};     // values that other sweeps chose

  std::string id() const { return paths.folder.filename().string(); }
  /// The run of the same folder whose model it begins from. Empty if it begins from none, or from one elsewhere.
  std::string source_id() const;
};

/// Turns options into runs of one folder of runs. Reads data and weights that several runs share only once.
class Planner {
 public:
  explicit Planner(fs::path runs) : runs_(std::move(runs)) {}

  /// Plans the run. If `tense` allows it, the run whose model the options begin from may still be untrained. Throws
  /// DataError and UsageError if something that the options name is missing, and DataError if the run's folder holds
  /// other work.
  PlannedRun plan(RunConfiguration options, ModelTense tense = ModelTense::kPresent);
  /// Plans the run for options that begin from the future model of `source`, a planned run.
  PlannedRun plan_after(const PlannedRun& source, RunConfiguration options);

 private:
  PlannedRun plan_branch(RunConfiguration options, ModelTense tense);
  PlannedRun plan_located(RunConfiguration options, std::string source_setting);
  /// What runs with the same names of files start from.
  struct KnownInputs {
    RunInputs inputs;
    std::vector<RunInputs> earlier;  // the same work, as runs of this folder name it that are older
  };

  KnownInputs look_at_inputs(const RunConfiguration& options) const;
  const RunInputs& inputs_for(const RunConfiguration& options, const KnownInputs& known) const;
  fs::path place_of(const RunConfiguration& options, const RunInputs& inputs) const;
  fs::path folder_for(const RunConfiguration& options, const RunInputs& inputs);

  fs::path runs_;
  std::map<std::string, KnownInputs> inputs_;
  mutable std::map<std::string, std::map<std::string, fs::path>> by_identity_;  // by beginning of the name, and by id
};

}  // namespace xlm
