// Numbers become records.
#include "experiments/programs/program_records.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/lookup.h"
#include "base/text.h"
#include "base/utf8.h"
#include "experiments/programs/shown_line.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxNames = 1000;
constexpr std::size_t kEarlierEvaluations = 100;  // more than a program does between two checkpoints

/// Whether a number that is not finite says that training has failed.
bool is_training_loss(const QuantityPlace& place) {
  static constexpr std::array<std::string_view, 3> kLosses{"loss", "bpc", "bits_per_byte"};
  return place.kind == QuantityPlace::Kind::kTraining && contains(kLosses, place.name);
}

/// "valid.loss", or "loss".
std::string in_journal(const QuantityPlace& place) {
  return place.split.empty() ? place.name : place.split + "." + place.name;
}

Json json_values(const std::map<std::string, double>& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = std::isfinite(value) ? Json(value) : Json();
  return json;
}

Json json_of(const ProgramEvaluation& evaluation) {
  return {{"step", evaluation.step}, {"values", json_values(evaluation.values)}, {"final", evaluation.final}};
}

/// Throws Json::exception if it is none.
ProgramEvaluation evaluation_of(const std::string& split, const Json& saved) {
  ProgramEvaluation evaluation{.split = split,
                               .step = saved.at("step").get<std::int64_t>(),
                               .values = {},
                               .final = saved.at("final").get<bool>()};
  for (const auto& [name, value] : saved.at("values").items()) {
    evaluation.values[name] = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  }
  return evaluation;
}

}  // namespace

std::string LinePlace::text() const { return line > 0 ? fmt::format("{}:{}", source, line) : source; }

ProgramRecords::Name* ProgramRecords::name(std::string_view name, const LinePlace& place) {
  if (const auto known = names_.find(name); known != names_.end()) return &known->second;
  if (names_.size() == kMaxNames) {
    fault(place,
          fmt::format("'{}' is one name too many: a run has at most {} quantities\nif names hold a step or a "
                      "time, report that as the step",
                      name, kMaxNames),
          {}, true);
    return nullptr;
  }
  if (!is_quantity_name(name)) {
    fault(place, wrong_quantity_name(name));
    return nullptr;
  }
  return &names_.emplace(name, Name{quantity_place(name), std::string(name)}).first->second;
}

/// What earlier attempts reported of a name at the first step of this one, and later, is of a path that was left.
void ProgramRecords::leave_attempts_before(const Name& name, std::int64_t step) {
  const auto before = before_.find(in_journal(name.place));
  if (before == before_.end()) return;
  const std::int64_t from = std::min(step, left_from_.value_or(step));
  if (before->second >= from) {
    if (!is_before_first_step()) left_from_ = from;  // otherwise it is of the checkpoint
    flush_metrics();
    sink_.go_back(from, {before->first});
    if (first_step_ && step < *first_step_ && counts_anew_.empty()) {
      counts_anew_ = fmt::format(
          "'{}' begins again at step {}, and the program resumed at {}: what it had from there on is void; report "
          "a step that goes on",
          before->first, step, *first_step_);
    }
  }
  before_.erase(before);
}

void ProgramRecords::note_step(Name& name, std::int64_t step, double value, const LinePlace& place) {
  // The step is about that of the checkpoint: nothing is left because of it.
  if (is_before_first_step() && step == newest_step()) return;
  if (!name.step) leave_attempts_before(name, step);
  name.greatest_step = std::max(name.greatest_step, step);
  if (name.step && step < *name.step && ++backward_steps_ == 1) {
    first_backward_ =
        fmt::format("{}: '{}' goes from step {} back to {}", place.text(), name.as_given, *name.step, step);
  }
  if (name.step == step && std::isfinite(value) && std::isfinite(name.value) && value != name.value) {
    if (++repeated_steps_ == 1) {
      first_repeated_ =
          fmt::format("{}: at step {} '{}' is {} after {}", place.text(), step, name.as_given, value, name.value);
    }
    // Once may be meant: at the end of training the whole split is evaluated, or the best weights.
    if (++name.replaced == 2 && name.place.kind == QuantityPlace::Kind::kEvaluation && replaced_evaluations_.empty()) {
      replaced_evaluations_ = fmt::format(
          "evaluations replaced others of the same step, first '{}' at step {}; let one process report, with the step",
          name.as_given, step);
    }
  }
  name.step = step;
  name.value = value;
}

void ProgramRecords::number(Name& name, std::int64_t step, double value, const LinePlace& place) {
  using Kind = QuantityPlace::Kind;
  if (name.place.kind == Kind::kRun) return cost(name.place.name, value);
  note_step(name, step, value, place);
  if (name.place.kind == Kind::kEvaluation) {
    return evaluation({.split = name.place.split, .step = step, .values = {{name.place.name, value}}});
  }
  if (step != metrics_step_) flush_metrics();
  metrics_step_ = step;
  metrics_[name.place.name] = value;
  if (std::isfinite(value) || !is_training_loss(name.place)) return;
  keep_error(std::make_exception_ptr(
      DivergedError(fmt::format("{}: '{}' is {} at step {}", place.text(), name.place.name, value, step))));
}

void ProgramRecords::evaluation(const ProgramEvaluation& evaluation) {
  LatestEvaluation& latest = evaluations_[evaluation.split];
  const bool is_first = latest.evaluation.split.empty() || latest.is_of_before;
  // Another source may be ahead.
  if (!is_first && evaluation.step < latest.evaluation.step && !evaluation.final) return late_evaluation(evaluation);
  if (is_first || latest.evaluation.step != evaluation.step) {
    flush_evaluation(latest);
    std::deque<ProgramEvaluation> earlier = std::move(latest.earlier);
    if (!latest.evaluation.split.empty()) earlier.push_back(std::move(latest.evaluation));
    while (!earlier.empty() && earlier.back().step >= evaluation.step) earlier.pop_back();
    if (earlier.size() > kEarlierEvaluations) earlier.pop_front();
    latest = {.evaluation = {.split = evaluation.split, .step = evaluation.step, .values = {}},
              .earlier = std::move(earlier)};
  }
  const bool is_behind_final = latest.evaluation.final && !evaluation.final;  // it changes no final number
  for (const auto& [name, value] : evaluation.values) {
    const auto [known, is_new] = latest.evaluation.values.try_emplace(name, value);
    if (!is_new && !is_behind_final) known->second = value;
  }
  latest.evaluation.final = latest.evaluation.final || evaluation.final;
  latest.is_new = true;
  if (evaluation.final) final_splits_.insert(evaluation.split);
}

void ProgramRecords::late_evaluation(const ProgramEvaluation& evaluation) {
  ProgramEvaluation& late = late_.evaluation;
  if (late_.is_new && (late.split != evaluation.split || late.step != evaluation.step)) flush_evaluation(late_);
  if (late_.is_new) {
    for (const auto& [name, value] : evaluation.values) late.values[name] = value;
  } else {
    late_ = {.evaluation = evaluation, .is_new = true};
  }
}

void ProgramRecords::flush_evaluations() {
  for (auto& [split, latest] : evaluations_) flush_evaluation(latest);
  flush_evaluation(late_);
}

void ProgramRecords::grid(std::int64_t step, const ProgramGrid& grid) {
  flush_metrics();
  sink_.grid(step, grid);
}

void ProgramRecords::note_log(Name& name, const std::string& log) {
  if (name.log == log || name.place.kind == QuantityPlace::Kind::kRun) return;
  name.log = log;
  logs_[log].insert(in_journal(name.place));
}

void ProgramRecords::go_back(std::int64_t step, const std::string& log) {
  const auto names = logs_.find(log);
  if (names == logs_.end()) return;
  flush_metrics();
  flush_evaluations();
  drop_evaluations(step, false);
  for (auto& [text, name] : names_) {
    if (name.log == log) name.step.reset();
  }
  for (const std::string& name : names->second) before_.erase(name);
  sink_.go_back(step, {names->second.begin(), names->second.end()});
}

/// Of this step and later ones. The one before them is the latest then.
void ProgramRecords::drop_evaluations(std::int64_t step, bool only_of_before) {
  for (auto& [split, latest] : evaluations_) {
    if (latest.evaluation.step < step || (only_of_before && !latest.is_of_before)) continue;
    if (latest.evaluation.final) final_splits_.erase(split);
    latest.evaluation = {};
    while (!latest.earlier.empty() && latest.evaluation.split.empty()) {
      if (latest.earlier.back().step < step) latest.evaluation = std::move(latest.earlier.back());
      latest.earlier.pop_back();
    }
    latest.evaluation.final = false;
  }
  std::erase_if(evaluations_, [](const auto& entry) { return entry.second.evaluation.split.empty(); });
}

void ProgramRecords::keep_error(std::exception_ptr error) {
  if (!error_) error_ = std::move(error);
}

void ProgramRecords::fault(const LinePlace& place, const std::string& what, std::string_view line, bool at_once) {
  is_wrong_line_ = true;
  if (error_) return;
  std::string message = fmt::format("{}: {}", place.text(), repaired_utf8(what));
  if (!line.empty()) message += fmt::format("\n  {}", shown_line(line));
  if (!at_once && right_.contains(place.source)) {
    if (++wrong_lines_ == 1) first_wrong_ = message;
    return;
  }
  keep_error(std::make_exception_ptr(DataError(message)));
  lines_at_fault_ = lines_;
}

void ProgramRecords::reading(const LinePlace& place) {
  if (place.line != line_ || place.source != source_) {
    if (lines_ > 0 && !is_wrong_line_) right_.insert(source_);
    is_wrong_line_ = false;
    ++lines_;
  }
  line_ = place.line;
  source_ = place.source;
}

void ProgramRecords::flush_metrics() {
  if (metrics_.empty()) return;
  sink_.metrics(metrics_step_, metrics_);
  metrics_.clear();
}

void ProgramRecords::flush_evaluation(LatestEvaluation& latest) {
  if (!latest.is_new) return;
  sink_.evaluation(latest.evaluation);
  latest.is_new = false;
}

void ProgramRecords::flush() {
  flush_metrics();
  flush_evaluations();
  if (!costs_.empty()) {
    sink_.costs(costs_);
    costs_.clear();
  }
  if (!error_) return;
  const std::exception_ptr error = std::exchange(error_, nullptr);
  const bool is_of_last_line = std::exchange(lines_at_fault_, -1) == lines_;
  if (!is_of_last_line) std::rethrow_exception(error);
  try {
    std::rethrow_exception(error);
  } catch (const DataError& wrong) {
    throw LastLineError(wrong.what());
  }
}

/// The steps of the path that was left were done again: what a name had there is void, though it did not come again. An
/// attempt that did not go on from there has only evaluated again.
void ProgramRecords::leave_names_of_before() {
  if (!left_from_ || newest_step() <= *left_from_) return;
  std::vector<std::string> left;
  for (auto& [name, step] : before_) {
    if (step < *left_from_ || came_again_.contains(name)) continue;
    left.push_back(name);
    step = *left_from_ - 1;  // or before that: no more is known
  }
  if (left.empty()) return;
  left_names_ += fmt::format("{}{} at step {} and later is of an attempt that was left, and does not count",
                             left_names_.empty() ? "" : "; ", listed_names(left, 3), *left_from_);
  flush_metrics();
  flush_evaluations();
  sink_.go_back(*left_from_, left);
  drop_evaluations(*left_from_, true);
}

void ProgramRecords::finish() {
  leave_names_of_before();
  for (auto& [split, latest] : evaluations_) {
    if (final_splits_.contains(split)) continue;
    if (latest.is_of_before && first_step_ && latest.evaluation.step > newest_step())
      continue;  // of steps that this attempt did not do
    latest.evaluation.final = true;
    latest.is_new = true;
    final_splits_.insert(split);
  }
  flush();
}

/// Of each name, in this attempt and those before.
std::map<std::string, std::int64_t> ProgramRecords::greatest_steps() const {
  std::map<std::string, std::int64_t> steps = before_;
  for (const auto& [text, name] : names_) {
    if (name.greatest_step < 0) continue;
    std::int64_t& step = steps.try_emplace(in_journal(name.place), 0).first->second;
    step = std::max(step, name.greatest_step);
  }
  return steps;
}

Json ProgramRecords::position() const {
  Json evaluations = Json::object();
  for (const auto& [split, latest] : evaluations_) {
    Json& saved = evaluations[split] = json_of(latest.evaluation);
    for (const ProgramEvaluation& earlier : latest.earlier) saved["earlier"].push_back(json_of(earlier));
    if (latest.is_of_before) saved["before"] = true;
  }
  Json position = {{"evaluations", evaluations}, {"final", final_splits_}};
  if (const auto greatest = greatest_steps(); !greatest.empty()) position["greatest"] = greatest;
  if (left_from_) {
    std::set<std::string> came = came_again_;
    for (const auto& [text, name] : names_) {
      if (name.greatest_step >= 0) came.insert(in_journal(name.place));
    }
    position["left"] = {{"from", *left_from_}, {"came_again", came}};
  }
  if (!left_names_.empty()) position["left_names"] = left_names_;
  if (!logs_.empty()) position["logs"] = logs_;
  if (newest_step_) position["step"] = *newest_step_;
  return position;
}

void ProgramRecords::begin(const Json& position) {
  if (position.is_null()) return;
  if (position.contains("step")) newest_step_ = position["step"].get<std::int64_t>();
  final_splits_ = position.at("final").get<std::set<std::string>>();
  logs_ = position.value("logs", logs_);
  before_ = position.value("greatest", before_);
  if (position.contains("left")) {
    left_from_ = position["left"].at("from").get<std::int64_t>();
    came_again_ = position["left"].at("came_again").get<std::set<std::string>>();
  }
  left_names_ = position.value("left_names", left_names_);
  for (const auto& [split, saved] : position.at("evaluations").items()) {
    LatestEvaluation latest{.evaluation = evaluation_of(split, saved), .is_of_before = saved.value("before", false)};
    for (const Json& earlier : saved.value("earlier", Json::array()))
      latest.earlier.push_back(evaluation_of(split, earlier));
    evaluations_[split] = std::move(latest);
  }
}

void ProgramRecords::begin_attempt(std::optional<std::int64_t> resumed_at) {
  leave_names_of_before();
  flush_metrics();
  flush_evaluations();
  before_ = greatest_steps();
  sink_.attempt_begins();
  ++attempt_;
  if (resumed_at) newest_step_ = resumed_at;
  came_again_.clear();
  left_from_.reset();
  first_step_.reset();
  for (auto& [text, name] : names_) {
    name.step.reset();
    name.greatest_step = -1;
  }
  for (auto& [split, latest] : evaluations_) latest.is_of_before = true;
}

std::vector<std::string> ProgramRecords::warnings() const {
  std::vector<std::string> warnings;
  if (!counts_anew_.empty()) warnings.push_back(counts_anew_);
  if (wrong_lines_ > 0) {
    warnings.push_back(fmt::format("{} could not be read, the first at {}",
                                   counted(static_cast<std::size_t>(wrong_lines_), "line"), first_wrong_));
  }
  if (!left_names_.empty()) warnings.push_back(left_names_);
  if (backward_steps_ > 0) {
    warnings.push_back(fmt::format(
        "steps went back {} times: of two numbers of the same name and step the later one counts, and the final one is "
        "of the greatest step, unless the program says which is\n"
        "first at {}\nif the program counts from 0 again in every epoch, report a step that goes on",
        backward_steps_, first_backward_));
  }
  if (repeated_steps_ > 0) {
    warnings.push_back(
        fmt::format("{} came behind another one of the same name and step\nfirst at {}\nof those the later one counts, "
                    "or the final one; report the step of each, from one process",
                    counted(static_cast<std::size_t>(repeated_steps_), "number"), first_repeated_));
  }
  return warnings;
}

}  // namespace xlm
