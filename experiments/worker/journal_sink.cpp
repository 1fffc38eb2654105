// A run's results on their way into its journal, its log and onto the screen.
#include "experiments/worker/journal_sink.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/lookup.h"
#include "base/text.h"
#include "experiments/runs/evaluation_record.h"
#include "experiments/runs/stop_request.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/registration.h"

namespace xlm {
namespace {

constexpr double kBetweenLooks = 0.5;     // seconds, for a request to stop
constexpr std::size_t kMaxTimes = 50;     // intervals between metrics that last_step_seconds is of
constexpr std::size_t kFewestTimes = 20;  // fewer are no measurement

}  // namespace

JournalSink::JournalSink(const RunPaths& run, const RunLock& lock, Settings settings)
    : run_(run),
      lock_(lock),
      settings_(std::move(settings)),
      began_(settings_.began ? *settings_.began : settings_.clock()),
      journal_(run.journal(), nullptr, lock.token()),
      log_(run.log()) {}

void JournalSink::begin(const Extent& extent) {
  max_seconds_ = extent.max_seconds;
  tokens_per_step_ = extent.tokens_per_step;
  times_steps_ = extent.times_steps;
  if (extent.tensorboard) {
    const double now = wall_seconds();
    events_ = std::make_unique<EventFile>(run_.tensorboard() / event_file_name(now, lock_.token()), now);
    events_->text("configuration", "```yaml\n" + read_file(run_.config()) + "```\n", now);
  }
  if (settings_.screen.file == nullptr) return;
  const Progress::Settings bar{.label = "train", .total = extent.steps, .rate = false, .two_lines = true};
  progress_ = std::make_unique<Progress>(bar, settings_.screen.file, settings_.screen.terminal, settings_.clock);
}

void JournalSink::state(RunStatus status, const Json& more) {
  check_owner();
  Json fields = {{"state", name_of(status)}};
  if (status == RunStatus::kRunning) {
    fields[kSeenRegistration] = last_registration(run_.folder.parent_path());
    running_since_ = settings_.clock();
  } else if (running_since_) {  // a clock of the day may be set meanwhile
    fields["seconds"] = std::round(1e3 * (settings_.clock() - *std::exchange(running_since_, std::nullopt))) / 1e3;
  }
  fields.update(more);
  journal_.append("state", fields, true);
}

void JournalSink::sync() {
  journal_.sync();
  has_unsynced_evaluations_ = false;
}

void JournalSink::sync_evaluations() {
  if (has_unsynced_evaluations_) sync();
}

void JournalSink::log(const std::string& text) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  log_.append(fmt::format("{:%Y-%m-%dT%H:%M:%SZ}  {}", now, text));
}

void JournalSink::finish() {
  evaluating_.reset();
  if (progress_) progress_->finish();
}

std::string JournalSink::detail(std::int64_t step, const NamedValues& values) const {
  std::string text;
  const Quantity* headline = headline_of([&](const std::string& name) { return values.contains(name); });
  if (headline != nullptr) text += named_number(*headline, values.at(headline->name));
  for (const Quantity& live : quantities()) {
    const double* const value = find_in(values, live.name);
    if (live.live.empty() || value == nullptr) continue;
    text += fmt::format("  {} {}", live.live, format_number(*value, live.format, live.digits));
    const double* const most = find_in(values, live.live_most);
    if (most != nullptr) text += "/" + format_number(*most, live.format, live.digits);
  }
  const double seconds = settings_.clock() - first_time_;
  if (seconds > 0 && step > first_step_ + 1 && tokens_per_step_ > 0) {
    const double rate = static_cast<double>(step - first_step_ - 1) * tokens_per_step_ / seconds;
    text += fmt::format("  {} tok/s", human_count(rate));
  }
  if (saved_step_ > 0) text += fmt::format("  saved at {}", human_count(static_cast<double>(saved_step_)));
  return text;
}

void JournalSink::progress(std::int64_t step, const NamedValues& values) {
  if (!progress_) return;
  evaluating_.reset();
  if (first_step_ < 0) {
    first_step_ = step - 1;
    first_time_ = settings_.clock();
    progress_->start_at(static_cast<double>(first_step_));
  }
  progress_->update(static_cast<double>(step), detail(step, values));
}

void JournalSink::metrics(std::int64_t step, const NamedValues& values) {
  check_owner();
  journal_.append("metric", {{"step", step}, {"values", Json(values)}});
  if (times_steps_) time_steps(step);
  show_in_tensorboard(step, "train/", values);
}

/// The time since the metrics before, for each step.
void JournalSink::time_steps(std::int64_t step) {
  const double now = settings_.clock();
  if (timed_from_ && step > timed_from_->step) {
    step_times_.push_back((now - timed_from_->time) / static_cast<double>(step - timed_from_->step));
    if (step_times_.size() > kMaxTimes) step_times_.pop_front();
  }
  timed_from_ = TimedStep{step, now};
}

/// The first numbers of a worker take the place of what earlier ones wrote of their step and of later ones.
void JournalSink::show_in_tensorboard(std::int64_t step, const std::string& group, const NamedValues& values) {
  if (!events_) return;
  const double now = wall_seconds();
  if (!has_events_) events_->restart(step, now);
  has_events_ = true;
  std::map<std::string, double> by_tag;
  for (const auto& [name, value] : values) by_tag[group + name] = value;
  events_->numbers(step, now, by_tag);
}

void JournalSink::grid(std::int64_t step, const Grid& grid) {
  check_owner();
  Json record = {{"step", step}, {"name", grid.name}, {"rows", grid.rows}};
  if (!grid.columns.empty()) record["columns"] = grid.columns;
  journal_.append("grid", record);
}

void JournalSink::evaluation(const Evaluation& evaluation) {
  check_owner();
  if (!evaluation.trace.values.empty()) journal_.append("trace", trace_record(evaluation));
  if (!evaluation.parts.sums.empty()) journal_.append("losses", losses_record(evaluation));
  journal_.append("evaluation", evaluation_record(evaluation), !batches_evaluations_);
  has_unsynced_evaluations_ = batches_evaluations_;
  timed_from_.reset();
  if (evaluation.split == "valid") evaluated_step_ = evaluation.step;
  NamedValues values = evaluation.values;
  if (!std::isnan(evaluation.loss)) values["loss"] = evaluation.loss;
  show_in_tensorboard(evaluation.step, evaluation.split + "/", values);
  const std::string line = fmt::format("step {}  {}{}  {}", evaluation.step, evaluation.split,
                                       evaluation.final ? " (final)" : "", evaluation_text(evaluation));
  log(line);
  evaluating_.reset();
  note(line);
}

/// An evaluation has a separate bar: that of training would stand still at its last step.
void JournalSink::evaluating(const std::string& split, double scored, double total) {
  if (!progress_) return;
  const bool goes_on = evaluating_ && evaluating_->split == split && evaluating_->scored <= scored;
  if (!goes_on) {
    progress_->finish();
    evaluating_.reset();
    const Progress::Settings bar{.label = "evaluating " + split, .total = total, .unit = "tokens"};
    evaluating_ = EvaluationBar{
        .split = split,
        .scored = 0,
        .bar = std::make_unique<Progress>(bar, settings_.screen.file, settings_.screen.terminal, settings_.clock)};
  }
  evaluating_->scored = scored;
  evaluating_->bar->update(scored);
}

/// A line above the bar that is drawn.
void JournalSink::note(const std::string& line) {
  if (evaluating_) {
    evaluating_->bar->note(line);
  } else if (progress_) {
    progress_->note(line);
  }
}

/// The median over the last intervals; nothing if they are too few.
std::optional<double> JournalSink::last_step_seconds() const {
  if (step_times_.size() < kFewestTimes) return std::nullopt;
  std::vector<double> times(step_times_.begin(), step_times_.end());
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

void JournalSink::costs(const NamedValues& values) {
  check_owner();
  NamedValues all = values;
  if (const std::optional<double> seconds = last_step_seconds()) all["last_step_seconds"] = *seconds;
  journal_.append("costs", {{"values", Json(all)}});
}

void JournalSink::outside_code(const std::map<std::string, std::string>& files) {
  check_owner();
  journal_.append("outside", {{"files", Json(files)}}, true);
}

/// Who goes on from a checkpoint does not write again what led to it: that is on the disk first.
void JournalSink::saving() {
  saving_since_ = settings_.clock();
  timed_from_.reset();
  journal_.sync();
}

void JournalSink::checkpoint(std::int64_t step, const fs::path& file) {
  check_owner();
  saved_step_ = step;
  Json record = {{"step", step}, {"file", file.lexically_relative(run_.folder).string()}};
  if (const auto since = std::exchange(saving_since_, std::nullopt)) record["seconds"] = settings_.clock() - *since;
  journal_.append("checkpoint", record, true);
}

void JournalSink::message(const std::string& text) {
  check_owner();
  journal_.append("message", {{"text", text}});
  log(text);
  note(text);
}

void JournalSink::check_owner() {
  if (lock_.still_owner()) return;
  throw LostRunError(fmt::format("another worker has taken over the run {}; this one stops and writes nothing more",
                                 run_.folder.filename().string()));
}

bool JournalSink::should_stop() {
  const bool stop = is_to_stop();
  if (stop && when_stopping_) std::exchange(when_stopping_, nullptr)();
  return stop;
}

bool JournalSink::is_to_stop() {
  if (has_paused()) return true;
  if (settings_.should_stop && settings_.should_stop()) return true;
  // Steps may be short, and the folder far away.
  if (const double now = settings_.clock(); now >= next_look_) {
    next_look_ = now + kBetweenLooks;
    asked_to_stop_ = asked_to_stop_ || is_stop_requested(run_.folder);
  }
  if (asked_to_stop_) return true;
  return max_seconds_ > 0 && settings_.clock() - began_ >= max_seconds_;
}

}  // namespace xlm
