// Numbers on their way from readers to a sink: each belongs to a step of training, to an evaluation, or to the run.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "experiments/programs/quantity_name.h"

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
  /// Of the same split and step more than once where its numbers come one after the other: all of them count, and of
  /// two of one name the later one, as in the journal.
  virtual void evaluation(const ProgramEvaluation& evaluation) = 0;
  /// Numbers of the whole run: params, flops_per_token, …
  virtual void costs(const std::map<std::string, double>& values) = 0;
  virtual void grid(std::int64_t step, const ProgramGrid& grid) = 0;
  /// Numbers of these names at this step and later ones are void; "valid.loss" is one of evaluations.
  virtual void go_back(std::int64_t /*step*/, const std::vector<std::string>& /*names*/) {}
  /// What comes from here on is of another attempt.
  virtual void attempt_begins() {}
};

/// What is wrong with the last line that was read.
class LastLineError : public DataError {
 public:
  using DataError::DataError;
};

/// A line of what a program wrote.
struct LinePlace {
  const std::string& source;  // the file
  std::int64_t line = 0;      // counted from 1; 0: there are no lines

  std::string text() const;  // "log.csv:12"
};

/// The newest step that one source has said. It is that of numbers without a step while its attempt goes on.
class SourceStep {
 public:
  void set(std::optional<std::int64_t> step, int attempt) {
    step_ = step;
    attempt_ = attempt;
  }
  std::optional<std::int64_t> in(int attempt) const { return attempt == attempt_ ? step_ : std::nullopt; }
  std::optional<std::int64_t> last() const { return step_; }

 private:
  std::optional<std::int64_t> step_;
  int attempt_ = 0;
};

/// Readers hand numbers in one by one. Those of the same step that come together become one record at `flush`. What is
/// wrong is kept until then, so that what stands behind it is read too.
class ProgramRecords {
 public:
  /// A name, looked up once by a reader that has many numbers of it.
  struct Name {
    QuantityPlace place;
    std::string as_given;
    std::optional<std::int64_t> step = std::nullopt;  // of its newest number, in this attempt
    std::int64_t greatest_step = -1;
    std::optional<std::string> log = std::nullopt;  // in which it stands (go_back)
    double value = 0;                               // its newest number
    int replaced = 0;                               // how many had the step of the one before
  };

  explicit ProgramRecords(RecordSink& sink) : sink_(sink) {}

  /// The entry of a name; the pointer stays valid. Null, after `fault`, if no quantity can have this name.
  Name* name(std::string_view name, const LinePlace& place);

  void number(Name& name, std::int64_t step, double value, const LinePlace& place);
  void evaluation(const ProgramEvaluation& evaluation);
  /// The seed of a run is a setting, by which runs are compared: what a program says of it has another name.
  void cost(const std::string& name, double value) { costs_[name == "seed" ? "reported_seed" : name] = value; }
  void grid(std::int64_t step, const ProgramGrid& grid);
  /// A line with numbers is read. To be called for each.
  void reading(const LinePlace& place);
  /// How many there were.
  std::int64_t lines() const { return lines_; }
  /// Keeps that a name stands in a log.
  void note_log(Name& name, const std::string& log);
  /// The log begins again at a step: what its names had from there on is void, also that of earlier attempts.
  void go_back(std::int64_t step, const std::string& log);
  /// Something is wrong with a line. Behind a right line of the same source it is counted and said; otherwise the first
  /// error is thrown by `flush`, so that what reads wrongly from the start ends at once. `at_once`: in any case.
  void fault(const LinePlace& place, const std::string& what, std::string_view line = {}, bool at_once = false);

  /// The step that was read last, from any source. Numbers without a step belong to it.
  std::int64_t newest_step() const { return newest_step_.value_or(0); }
  void seen_step(std::int64_t step) {
    if (newest_step_ != step) ++changes_of_step_;
    if (!first_step_) first_step_ = step;
    newest_step_ = step;
  }
  bool has_seen_step() const { return newest_step_.has_value(); }
  std::int64_t changes_of_step() const { return changes_of_step_; }

  /// Hands on all there is. Throws what was wrong (metric_readers.h).
  void flush();
  /// Hands the last evaluation of each split on as the final one where there is none.
  void finish();

  Json position() const;
  void begin(const Json& position);
  /// From here on steps may be those of another attempt. `resumed_at`: the step of its checkpoint; nothing: not known.
  void begin_attempt(std::optional<std::int64_t> resumed_at = std::nullopt);
  /// Counted from 0.
  int attempt() const { return attempt_; }
  /// Whether this attempt goes on from another and has not said a step.
  bool is_before_first_step() const { return attempt_ > 0 && !first_step_; }
  std::vector<std::string> warnings() const;
  /// What lists say if evaluations have replaced others again and again, as of several processes; empty: nothing.
  const std::string& replaced_evaluations() const { return replaced_evaluations_; }

 private:
  struct LatestEvaluation {
    ProgramEvaluation evaluation;
    bool is_new = false;                         // not handed on yet
    bool is_of_before = false;                   // of an earlier attempt
    std::deque<ProgramEvaluation> earlier = {};  // what stays if it goes: the last ones before it, of lower steps
  };

  void note_step(Name& name, std::int64_t step, double value, const LinePlace& place);
  void leave_attempts_before(const Name& name, std::int64_t step);
  void leave_names_of_before();
  void drop_evaluations(std::int64_t step, bool only_of_before);
  void keep_error(std::exception_ptr error);
  void flush_metrics();
  void flush_evaluation(LatestEvaluation& latest);
  void flush_evaluations();
  void late_evaluation(const ProgramEvaluation& evaluation);
  std::map<std::string, std::int64_t> greatest_steps() const;

  RecordSink& sink_;
  std::map<std::string, Name, std::less<>> names_;
  int attempt_ = 0;
  std::optional<std::int64_t> newest_step_;
  std::optional<std::int64_t> first_step_;  // of this attempt
  std::optional<std::int64_t> left_from_;   // where this attempt did steps of an earlier one again
  std::set<std::string> came_again_;        // names of this attempt, if another process began to read it
  std::string left_names_;                  // what to say of names whose numbers from there on are void
  std::set<std::string> right_;             // sources with a right line
  bool is_wrong_line_ = false;              // the one that is read
  std::int64_t wrong_lines_ = 0;            // that were passed over
  std::string first_wrong_;
  std::int64_t changes_of_step_ = 0;
  std::int64_t metrics_step_ = 0;
  std::map<std::string, double> metrics_;
  std::map<std::string, LatestEvaluation> evaluations_;  // by split, of the greatest step of an attempt
  LatestEvaluation late_;                                // of an earlier step
  std::map<std::string, std::int64_t> before_;           // the greatest steps of names in earlier attempts
  std::set<std::string> final_splits_;
  std::map<std::string, double> costs_;
  std::map<std::string, std::set<std::string>> logs_;  // the names in each
  std::exception_ptr error_;
  std::int64_t lines_ = 0;
  std::int64_t lines_at_fault_ = -1;  // when the error was one of a line
  std::string source_;                // of the last one
  std::int64_t line_ = 0;
  std::int64_t backward_steps_ = 0;
  std::string first_backward_;  // in words
  std::string counts_anew_;     // the first name that begins below the attempt, in words
  std::int64_t repeated_steps_ = 0;
  std::string first_repeated_;
  std::string replaced_evaluations_;
};

}  // namespace xlm
