// What a program's numbers become on their way to the journal.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace xlm {

/// An evaluation as a program reports it: numbers of one split.
struct ProgramEvaluation {
  std::string split;  // "train" | "valid" | "test"
  std::int64_t step = 0;
  std::map<std::string, double> values;  // loss, bpc, …: only what the program reports
  bool final = false;                    // of the trained model: "SPLIT.NAME" of the store
};

/// A table of numbers of a program's own, as the journal keeps it.
struct ProgramGrid {
  std::string name;
  std::vector<std::vector<double>> rows;  // NaN where there is no number
  std::vector<std::int64_t> columns;      // rising; empty: 1, 2, …
};

/// Receives records in the order in which the program wrote them. Numbers may be NaN or infinite.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void metrics(std::int64_t step, const std::map<std::string, double>& values) = 0;
  /// Of the same split and step more than once where its numbers come one after the other: the later one holds those of
  /// the earlier ones too, and takes their place, as in the journal.
  virtual void evaluation(const ProgramEvaluation& evaluation) = 0;
  /// Numbers of the whole run: params, flops_per_token, …
  virtual void costs(const std::map<std::string, double>& values) = 0;
  virtual void grid(std::int64_t step, const ProgramGrid& grid) = 0;
  /// Numbers of these names at this step and later ones are void; "valid.loss" is one of evaluations.
  virtual void go_back(std::int64_t /*step*/, const std::vector<std::string>& /*names*/) {}
};

}  // namespace xlm
