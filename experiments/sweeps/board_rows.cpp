// Estimates how long the rest of a sweep takes.
#include "experiments/sweeps/board_rows.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace xlm {
namespace {

constexpr std::size_t kExamples = 64;  // the newest runs, for comparison: few, so that drawing stays quick

/// Estimates the time of runs that have not begun.
class Forecast {
 public:
  explicit Forecast(const std::vector<BoardRow>& rows) {
    for (auto row = rows.rbegin(); row != rows.rend() && examples_.size() < kExamples; ++row) {
      if (row->progress.pace > 0 && row->steps() > 0 && !row->failed) examples_.push_back(&*row);
    }
  }

  bool has_examples() const { return !examples_.empty(); }

  /// Seconds from `step` to the end: the mean of the runs that share the most values with this one.
  double seconds(const BoardRow& row, double step) const {
    std::ptrdiff_t most = -1;
    double seconds = 0;
    double count = 0;
    for (const BoardRow* example : examples_) {
      std::ptrdiff_t common = 0;
      for (std::size_t i = 0; i < row.values.size(); ++i) common += row.values[i] == example->values[i] ? 1 : 0;
      if (common < most) continue;
      if (common > most) seconds = count = 0;
      most = common;
      const double steps = row.steps() > 0 ? row.steps() : example->steps();
      seconds += std::max(steps - step, 0.0) * example->progress.pace + example->progress.overhead;
      count += 1;
    }
    return seconds / count;
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
    free.push(time_left(row).value_or(forecast.seconds(row, step)));
    last = std::max(last, time_left(row).value_or(forecast.seconds(row, step)));
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
