// `evaluate` of a sweep's file: the evaluations that the sweep wants of every run once it is done.
#pragma once

#include <map>
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
  /// a value or a list of values each. Its `where` chooses the runs. One with a `command` is about runs of programs.
  /// Throws UsageError with file:line.
  explicit SweepEvaluations(const Yaml& tree);

  /// The evaluations of one run, in file order, each once. Throws UsageError with file:line for settings that do not
  /// suit its model or its program, and DataError for missing data.
  std::vector<WantedEvaluation> of(const PlannedRun& run);

  /// Settings that an evaluation of a run changes.
  struct Wish {
    SweepPoint changes;             // a value by key
    const Yaml* command = nullptr;  // that makes it; null: core does
    const Json* program = nullptr;  // the same with `metrics` and `name`, as the journal has it
  };
  /// Those of a run, in file order, as long as this object is there. `run` is its resolved configuration; no file is
  /// read.
  std::vector<Wish> wishes_for(const Yaml& run);

  /// Throws UsageError with file:line for a key of `where` that no run had: such a mistake would leave out everything.
  void check_conditions() const;

 private:
  struct Block {
    std::vector<Yaml::Entry> where;
    std::vector<SweepPoint> points;  // the product of its lists
    Yaml command = {};               // null: core makes it
    Json program = {};
  };

  static Block read_block(const Yaml& map);
  bool is_about(const Block& block, const Yaml& run);
  /// `run` is a program's run.
  WantedEvaluation wanted_of_program(const Wish& wish, const PlannedRun& run);
  void take_code(Json& part, const ProgramOptions& program, const fs::path& runs);
  const PreparedSummary& data_of(const std::string& path);

  std::vector<Block> blocks_;
  std::map<std::string, PreparedSummary> data_;  // of programs, by path
  std::map<std::string, Json> code_;             // of evaluations, by folder and patterns
  std::set<std::string> seen_keys_;              // of `where`, in any run
};

}  // namespace xlm
