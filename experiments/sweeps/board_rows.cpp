// Estimates how long the rest of a sweep takes.
#include "experiments/sweeps/board_rows.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace xlm {
namespace {

constexpr std::size_t kExamples = 64;  // the newest runs, for comparison: few, so that drawing stays quick

/// The mean of the examples that share the most values with a row, of those that `has` it; 0 if none does.
template <typename Has, typename Number>
double mean_of_alike(const BoardRow& row, const std::vector<const BoardRow*>& examples, const Has& has,
                     const Number& number) {
  std::ptrdiff_t most = -1;
  double sum = 0;
  double count = 0;
  for (const BoardRow* example : examples) {
    std::ptrdiff_t common = 0;
    for (std::size_t i = 0; i < row.values.size(); ++i) common += row.values[i] == example->values[i] ? 1 : 0;
    if (!has(*example) || common < most) continue;
    if (common > most) sum = count = 0;
    most = common;
    sum += number(*example);
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

/// Estimates the time of runs that have not begun.
class Forecast {
 public:
  explicit Forecast(const std::vector<BoardRow>& rows) {
    for (auto row = rows.rbegin(); row != rows.rend() && examples_.size() < kExamples; ++row) {
      if (row->progress.pace > 0 && row->steps() > 0 && !row->failed) examples_.push_back(&*row);
    }
  }

  bool has_examples() const { return !examples_.empty(); }

  /// Seconds from `step` to the end.
  double seconds(const BoardRow& row, double step) const {
    const auto of_steps = [&](const BoardRow& example) {
      const double steps = row.steps() > 0 ? row.steps() : example.steps();
      return std::max(steps - step, 0.0) * example.progress.pace;
    };
    return mean_of_alike(
               row, examples_, [](const BoardRow&) { return true; }, of_steps) +
           overhead(row);
  }

  /// Seconds of a run for other work than its steps: its final evaluations, above all. 0 until one has ended.
  double overhead(const BoardRow& row) const {
    return mean_of_alike(
        row, examples_, [](const BoardRow& example) { return example.progress.overhead > 0; },
        [](const BoardRow& example) { return example.progress.overhead; });
  }

 private:
  std::vector<const BoardRow*> examples_;
};

/// Of a budget, as the last record says.
double spent_share(const TrainOptions& train, const Json& metric) {
  const Json values = metric.is_object() ? metric.value("values", Json::object()) : Json::object();
  if (train.flops > 0) return number_at(values, "training_flops") / train.flops;
  return train.seconds > 0 ? number_at(values, "training_seconds") / train.seconds : 0;
}

}  // namespace

double BoardRow::steps() const {
  const TrainOptions& train = run->planned.options.train;
  if (!train.has_length()) return expected_steps > 0 ? std::max(expected_steps, step()) : 0;
  if (!train.has_budget()) return static_cast<double>(train.steps);
  const double share = spent_share(train, progress.metric);
  return share > 0 ? step() / std::min(share, 1.0) : 0;
}

std::string BoardRow::evaluates() const {
  const RunConfiguration& options = run->planned.options;
  if (!is_at_work() || options.program || step() == 0) return "";
  if (step() >= steps()) return "evaluates";
  const auto at = static_cast<std::int64_t>(step());
  const bool is_due = options.train.eval_every > 0 && at % options.train.eval_every == 0;
  return is_due && number_at(progress.validation, "step") < step() ? "evaluates valid" : "";
}

void expect_steps(std::vector<BoardRow>& rows) {
  std::vector<const BoardRow*> done;
  for (auto row = rows.rbegin(); row != rows.rend() && done.size() < kExamples; ++row) {
    const bool is_of_program = !row->run->planned.options.train.has_length();
    if (is_of_program && row->step() > 0 && row->status.starts_with(name_of(RunStatus::kDone))) done.push_back(&*row);
  }
  for (BoardRow& row : rows) {
    row.expected_steps = mean_of_alike(
        row, done, [](const BoardRow&) { return true; }, [](const BoardRow& example) { return example.step(); });
  }
}

std::optional<double> time_left(const BoardRow& row) {
  if (!row.is_at_work() || row.progress.pace <= 0 || row.step() >= row.steps()) return std::nullopt;
  return (row.steps() - row.step()) * row.progress.pace;
}

std::optional<double> time_left(const std::vector<BoardRow>& rows) {
  const Forecast forecast(rows);
  if (!forecast.has_examples()) return std::nullopt;
  // The times at which the workers become free. A waiting run goes to the first free one.
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  double last = 0;
  for (const BoardRow& row : rows) {
    if (!row.is_at_work()) continue;
    const double step = std::max(row.step(), static_cast<double>(row.run->checkpoint));
    const std::optional<double> of_steps = time_left(row);
    const double left = of_steps ? *of_steps + forecast.overhead(row) : forecast.seconds(row, step);
    free.push(left);
    last = std::max(last, left);
  }
  if (free.empty()) return std::nullopt;
  for (const BoardRow& row : rows) {
    if (row.state != BoardState::kWaiting) continue;
    const double end = free.top() + forecast.seconds(row, static_cast<double>(row.run->checkpoint));
    free.pop();
    free.push(end);
    last = std::max(last, end);
  }
  return last > 0 ? std::optional(last) : std::nullopt;
}

}  // namespace xlm
