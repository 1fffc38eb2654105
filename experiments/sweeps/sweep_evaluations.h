// What a sweep's file says under `evaluate`: the evaluations that are wanted of every run once it is done.
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
  /// Reads `evaluate` of a configuration: a map, or a list of them, of evaluation settings, data.path and split, each
  /// with a value or a list of values, and `where`: the runs that it is about. Throws UsageError with file:line.
  explicit SweepEvaluations(const Yaml& tree);

  /// The evaluations of one run, in file order, each once. Throws UsageError with file:line for settings that do not
  /// suit its model, DataError for data that are not there.
  std::vector<WantedEvaluation> of(const PlannedRun& run);

  /// What the evaluations of a run change, each a value by key, in file order. `run` is its resolved configuration;
  /// nothing is looked at beside it.
  std::vector<SweepPoint> changes_for(const Yaml& run);

  /// Throws UsageError with file:line for a key of `where` that no run has had: a slip that would leave everything out.
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
