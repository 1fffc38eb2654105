// How a value goes along a column.
#include "results/claims/trend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "results/store/statistics.h"

namespace xlm {
namespace {

struct Slope {
  double value = 0;
  double squares = 0;  // of x around its mean
};

/// Of least squares; nothing if x does not vary.
std::optional<Slope> slope_of(const std::vector<const TrendPoint*>& points) {
  double x = 0;
  double y = 0;
  for (const TrendPoint* point : points) {
    x += point->x / static_cast<double>(points.size());
    y += point->y / static_cast<double>(points.size());
  }
  double xx = 0;
  double xy = 0;
  for (const TrendPoint* point : points) {
    xx += (point->x - x) * (point->x - x);
    xy += (point->x - x) * (point->y - y);
  }
  return xx > 0 ? std::optional(Slope{xy / xx, xx}) : std::nullopt;
}

}  // namespace

std::map<double, ByGroup> by_place(const std::vector<TrendPoint>& points) {
  std::map<double, ByGroup> places;
  for (const TrendPoint& point : points) places[point.x][point.seed].push_back(point.y);
  return places;
}

std::optional<Trend> trend_of(const std::vector<TrendPoint>& points) {
  std::map<std::string, std::vector<const TrendPoint*>> seeds;
  for (const TrendPoint& point : points) seeds[point.seed].push_back(&point);
  std::vector<double> slopes;
  double squares = std::numeric_limits<double>::infinity();
  Trend trend;
  for (const auto& [seed, of_seed] : seeds) {
    if (const std::optional<Slope> slope = slope_of(of_seed)) {
      slopes.push_back(slope->value);
      squares = std::min(squares, slope->squares);
    } else {
      ++trend.without_slope;
    }
  }
  if (slopes.empty()) return std::nullopt;
  std::vector<double> numbers;
  for (const TrendPoint& point : points) numbers.push_back(point.y);
  trend.slope = {.value = mean(slopes), .seeds = std::ssize(slopes)};
  if (const auto spread = spread_of_rounded(slopes, step_of(numbers) / std::sqrt(squares))) {
    trend.slope.error = spread->deviation / std::sqrt(static_cast<double>(slopes.size()));
    trend.slope.freedom = spread->freedom;
  }
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& [place, values] : by_place(points)) {
    x.push_back(place);
    y.push_back(mean(means_of(values)));
  }
  for (std::size_t i = 1; i + 1 < x.size(); ++i) {
    if ((y[i] - y[i - 1]) * (y[i + 1] - y[i]) < 0) trend.turns.push_back(x[i]);
  }
  return trend;
}

}  // namespace xlm
