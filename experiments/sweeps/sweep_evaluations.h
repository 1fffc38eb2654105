// `evaluate` of a sweep's file: the evaluations that the sweep wants of every run once it is done.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "experiments/runs/run_plan.h"
#include "experiments/runs/wanted_evaluations.h"
#include "experiments/sweeps/sweep.h"

namespace xlm {

class SweepEvaluations {
 public:
  /// Reads `evaluate` of a configuration: a map or a list of maps. A map gives evaluation settings, data.path and split
  /// a value or a list of values each. Its `where` chooses the runs. Throws UsageError with file:line.
  explicit SweepEvaluations(const Yaml& tree);

  /// The evaluations of one run, in file order, each once. Throws UsageError with file:line for settings that do not
  /// suit its model, and DataError for missing data.
  std::vector<WantedEvaluation> of(const PlannedRun& run);

  /// The settings that the evaluations of a run change, each a value by key, in file order. `run` is its resolved
  /// configuration; no file is read.
  std::vector<SweepPoint> changes_for(const Yaml& run);

  /// Throws UsageError with file:line for a key of `where` that no run had: such a mistake would leave out everything.
  void check_conditions() const;

 private:
  struct Block {
    std::vector<Yaml::Entry> where;
    std::vector<SweepPoint> points;  // the product of its lists
  };

  bool is_about(const Block& block, const Yaml& run);

  std::vector<Block> blocks_;
  std::set<std::string> seen_keys_;  // of `where`, in any run
};

}  // namespace xlm
