// `evaluate` of a sweep's file: the evaluations that the sweep wants of every run once it is done.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "experiments/runs/run_plan.h"
#include "experiments/sweeps/sweep.h"

namespace xlm {

/// One map of `evaluate`.
struct EvaluationBlock {
  std::vector<Yaml::Entry> where;  // chooses the runs
  std::vector<SweepPoint> points;  // the product of its lists
  Yaml command = {};               // that makes it; null: core does
  Json program = {};               // the same with `metrics` and `name`, as the journal has it
};

/// Reads `evaluate` of a configuration: a map or a list of maps. A map gives evaluation settings, data.path and split a
/// value or a list of values each. One with a `command` is about runs of programs. Throws UsageError with file:line.
std::vector<EvaluationBlock> read_evaluations(const Yaml& configuration);

class SweepEvaluations {
 public:
  explicit SweepEvaluations(std::vector<EvaluationBlock> blocks) : blocks_(std::move(blocks)) {}

  /// The evaluations of one run, in file order, each once. Throws UsageError with file:line for settings that do not
  /// suit its model or its program, and DataError for missing data.
  std::vector<WantedEvaluation> of(const PlannedRun& run);

  /// Settings that an evaluation of a run changes.
  struct Wish {
    SweepPoint changes;  // a value by key
    const EvaluationBlock* block = nullptr;
  };
  /// Those of a run, in file order, as long as this object is there. `run` is its resolved configuration; no file is
  /// read.
  std::vector<Wish> wishes_for(const Yaml& run);

  /// Throws UsageError with file:line for a key of `where` that no run had: such a mistake would leave out everything.
  void check_conditions() const;

 private:
  bool is_about(const EvaluationBlock& block, const Yaml& run);
  /// `run` is a program's run.
  WantedEvaluation wanted_of_program(const Wish& wish, const PlannedRun& run);
  void take_code(Json& part, const ProgramOptions& program, const fs::path& runs);
  const PreparedSummary& data_of(const std::string& path);

  std::vector<EvaluationBlock> blocks_;
  std::map<std::string, PreparedSummary> data_;  // of programs, by path
  std::map<std::string, Json> code_;             // of evaluations, by folder and patterns
  std::set<std::string> seen_keys_;              // of `where`, in any run
};

}  // namespace xlm
