// What a program reports.
#include "experiments/worker/program_results.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/lookup.h"
#include "base/progress.h"
#include "base/text.h"
#include "experiments/programs/metric_readers.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

Evaluation as_evaluation(const ProgramEvaluation& given) {
  Evaluation evaluation;
  evaluation.split = given.split;
  evaluation.step = given.step;
  evaluation.final = given.final;
  evaluation.values = given.values;
  evaluation.loss = value_or(given.values, "loss", std::numeric_limits<double>::quiet_NaN());
  if (std::isfinite(evaluation.loss)) {
    evaluation.values.erase("loss");
  } else {
    evaluation.loss = std::numeric_limits<double>::quiet_NaN();
  }
  return evaluation;
}

ProgramResults::ProgramResults(JournalSink* sink, std::map<std::string, double> before)
    : sink_(sink), before_(std::move(before)) {}

void ProgramResults::note_step(std::int64_t step) {
  const double now = monotonic_seconds();
  if (first_step_ < 0 || step < step_) {
    first_step_ = step;
    first_time_ = now;
    arrivals_ = 0;
  }
  constexpr double kAtOnce = 0.02;  // seconds
  if (arrivals_ == 0 || now - last_time_ > kAtOnce) ++arrivals_;
  if (arrivals_ == 1) {  // time counts from the last of the steps that came first
    first_step_ = step;
    first_time_ = now;
  }
  step_ = step;
  last_time_ = now;
}

std::string ProgramResults::other_steps() const {
  constexpr std::int64_t kFarMore = 10;
  for (const auto& [split, steps] : evaluated_) {
    const std::int64_t last = *steps.rbegin();
    const bool is_counted = std::ssize(steps) > 2 && last - *steps.begin() + 1 == std::ssize(steps);
    if (!is_counted || kFarMore * last > trained_) continue;
    return fmt::format(
        "{} has the steps {} to {}, and training has {}: early stopping and figures take them for steps of training; "
        "if "
        "they are epochs, report the step",
        split, *steps.begin(), last, trained_);
  }
  return "";
}

std::string ProgramResults::other_length(std::int64_t asked, std::optional<std::int64_t> gap) const {
  if (!steps_ || asked <= 0) return "";
  const std::string both = fmt::format("its last number is of step {}, and train.steps is {}", steps_->last, asked);
  if (steps_->last > asked) return both + ": it may count in other units";
  // It may report more and more rarely.
  const bool may_be_whole = steps_->last == 0 || !gap || steps_->last + 2 * *gap >= asked;
  return may_be_whole ? "" : both + ": it may have ended early";
}

void ProgramResults::attempt_begins() {
  evaluated_.clear();
  not_finite_.clear();
  steps_.reset();
  firsts_.clear();
  first_step_ = -1;
}

void ProgramResults::note_of_attempt(std::int64_t step) {
  least_step_ = std::min(least_step_, step);
  if (!steps_) steps_ = {.first = step, .last = step};
  steps_->gap = std::max(steps_->gap, step - steps_->last);
  steps_->last = std::max(steps_->last, step);
}

void ProgramResults::metrics(std::int64_t step, const std::map<std::string, double>& values) {
  note_step(step);
  note_of_attempt(step);
  trained_ = std::max(trained_, step);
  firsts_.insert(values.begin(), values.end());
  if (sink_ == nullptr) return;
  sink_->metrics(step, values);
  sink_->progress(step, values);
}

void ProgramResults::evaluation(const ProgramEvaluation& evaluation) {
  step_ = std::max(step_, evaluation.step);
  note_of_attempt(evaluation.step);
  evaluated_[evaluation.split].insert(evaluation.step);
  for (const auto& [name, value] : evaluation.values) {
    if (evaluation.final && !std::isfinite(value)) not_finite_.push_back(evaluation.split + "." + name);
  }
  if (sink_ != nullptr) sink_->evaluation(as_evaluation(evaluation));
}

void ProgramResults::costs(const std::map<std::string, double>& values) {
  for (const auto& [name, value] : values) reported_[name] = value;
  if (sink_ != nullptr) sink_->costs(values);
}

void ProgramResults::grid(std::int64_t step, const ProgramGrid& grid) {
  step_ = std::max(step_, step);
  if (sink_ != nullptr) sink_->grid(step, {.name = grid.name, .rows = grid.rows, .columns = grid.columns});
}

void ProgramResults::used(const ProgramUsage& usage) {
  std::map<std::string, double> costs;
  costs["wall_seconds"] = value_or(before_, "wall_seconds", 0) + usage.wall_seconds;
  costs["processor_seconds"] = value_or(before_, "processor_seconds", 0) + usage.processor_seconds;
  const double peak = std::max(value_or(before_, "peak_memory", 0), usage.peak_memory);
  if (peak > 0) costs["peak_memory"] = peak;
  // What a program writes only at its end comes all at once, and its steps did not.
  constexpr int kFewest = 3;
  if (step_ > first_step_ && first_step_ >= 0 && arrivals_ >= kFewest) {
    costs["step_seconds"] = (last_time_ - first_time_) / static_cast<double>(step_ - first_step_);
  }
  for (const auto& [name, value] : reported_) costs.erase(name);
  if (sink_ != nullptr && !costs.empty()) sink_->costs(costs);
}

std::vector<std::string> doubts_of_numbers(const ProgramResults& results, const MetricReaders& readers) {
  std::vector<std::string> doubts = mapped(readers.doubts(), first_line);
  doubts.push_back(results.other_steps());
  if (!results.not_finite().empty())
    doubts.push_back(fmt::format("its final {} {}", listed_names(results.not_finite(), 3), kNotFinite));
  doubts.push_back(readers.replaced_evaluations());
  std::erase(doubts, "");
  return doubts;
}

}  // namespace xlm
