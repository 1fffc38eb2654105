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
      if (row->progress.pace > 0 && !row->failed) examples_.push_back(&*row);
    }
  }

  bool has_examples() const { return !examples_.empty(); }

  /// Seconds from `step` to the end: the mean of the runs that share the most values with this one.
  double seconds(const BoardRow& row, double step) const {
    std::ptrdiff_t most = -1;
    double pace = 0;
    double overhead = 0;
    double count = 0;
    for (const BoardRow* example : examples_) {
      std::ptrdiff_t common = 0;
      for (std::size_t i = 0; i < row.values.size(); ++i) common += row.values[i] == example->values[i] ? 1 : 0;
      if (common < most) continue;
      if (common > most) pace = overhead = count = 0;
      most = common;
      pace += example->progress.pace;
      overhead += example->progress.overhead;
      count += 1;
    }
    return std::max(row.steps() - step, 0.0) * pace / count + overhead / count;
  }

 private:
  std::vector<const BoardRow*> examples_;
};

}  // namespace

std::optional<double> time_left(const BoardRow& row) {
  if (!row.is_at_work() || row.progress.pace <= 0) return std::nullopt;
  return std::max(row.steps() - number_at(row.progress.metric, "step"), 0.0) * row.progress.pace;
}

std::optional<double> time_left(const std::vector<BoardRow>& rows) {
  const Forecast forecast(rows);
  if (!forecast.has_examples()) return std::nullopt;
  // The times at which the workers become free. A waiting run goes to the first free one.
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  double last = 0;
  for (const BoardRow& row : rows) {
    if (!row.is_at_work()) continue;
    const double step = std::max(number_at(row.progress.metric, "step"), static_cast<double>(row.run->checkpoint));
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
  return last;
}

}  // namespace xlm
