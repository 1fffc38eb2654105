// What a program reports, on its way into the journal of its run.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "experiments/programs/program_end.h"
#include "experiments/programs/program_records.h"
#include "experiments/worker/journal_sink.h"

namespace xlm {

/// An evaluation as core reports it. What the program does not report is 0 or, of the loss, no number. A loss that is
/// not finite stays among the values, which say so.
Evaluation as_evaluation(const ProgramEvaluation& given);

class ProgramResults final : public RecordSink {
 public:
  /// `before`: the costs of the attempts that this one continues. `sink` outlives it; null: nothing is journaled.
  ProgramResults(JournalSink* sink, std::map<std::string, double> before);

  void metrics(std::int64_t step, const std::map<std::string, double>& values) override;
  void evaluation(const ProgramEvaluation& evaluation) override;
  void costs(const std::map<std::string, double>& values) override;
  void grid(std::int64_t step, const ProgramGrid& grid) override;
  void go_back(std::int64_t step, const std::vector<std::string>& names) override {
    if (sink_ != nullptr) sink_->go_back(step, names);
  }

  /// Journals what the program has used, with what the attempts before it had used, and the time of its steps, unless
  /// it reports that itself.
  void used(const ProgramUsage& usage);

  /// The least step of all attempts.
  std::int64_t least_step() const { return least_step_; }
  /// The last step that was reported; 0: none.
  std::int64_t step() const { return step_; }

  /// What to say if a split is evaluated at steps 1, 2, 3, … of far fewer than training has: they may be epochs. Else
  /// empty.
  std::string other_steps() const;

  /// The final numbers that are none, such as "valid.loss"; empty: all are.
  const std::vector<std::string>& not_finite() const { return not_finite_; }

  void attempt_begins() override;
  /// The first and the greatest step of this attempt; nothing: none was reported.
  struct Steps {
    std::int64_t first = 0;
    std::int64_t last = 0;
    std::int64_t gap = 0;  // the longest between two neighbours
  };
  const std::optional<Steps>& steps() const { return steps_; }
  /// What to say if a program that is done was to do `asked` steps (0: not said), and did not: it may report each `gap`
  /// steps (nothing: not known). Else empty.
  std::string other_length(std::int64_t asked, std::optional<std::int64_t> gap) const;
  /// The first number of each series of this attempt.
  const std::map<std::string, double>& firsts() const { return firsts_; }

 private:
  void note_step(std::int64_t step);
  void note_of_attempt(std::int64_t step);

  JournalSink* sink_;
  std::map<std::string, double> before_;
  std::map<std::string, double> reported_;
  std::vector<std::string> not_finite_;
  std::map<std::string, std::set<std::int64_t>> evaluated_;  // the steps of each split, in this attempt
  std::int64_t trained_ = 0;                                 // the greatest step of training
  std::int64_t step_ = 0;
  std::int64_t least_step_ = std::numeric_limits<std::int64_t>::max();
  std::optional<Steps> steps_;
  std::map<std::string, double> firsts_;
  std::int64_t first_step_ = -1;  // of those that rose without a break
  double first_time_ = 0;
  double last_time_ = 0;
  int arrivals_ = 0;  // times apart at which steps came
};

class MetricReaders;

/// What lists say of the numbers of a run that is done, but for its length.
std::vector<std::string> doubts_of_numbers(const ProgramResults& results, const MetricReaders& readers);

}  // namespace xlm
