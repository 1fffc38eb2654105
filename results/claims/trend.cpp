// How a value goes along a column.
#include "results/claims/trend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

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
  for (const TrendPoint& point : points) {
    if (point.diverged == 0) places[point.x][point.seed].push_back(point.y);
  }
  return places;
}

std::vector<TrendPoint> with_worst(std::vector<TrendPoint> points, int worse) {
  std::vector<double> numbers;
  for (const TrendPoint& point : points) numbers.push_back(point.y);
  const double far = far_worse(numbers, worse);
  for (TrendPoint& point : points) {
    if (const int diverged = std::exchange(point.diverged, 0); diverged != 0) point.y = diverged * far;
  }
  return points;
}

std::optional<Trend> trend_of(const std::vector<TrendPoint>& points) {
  std::map<std::string, std::vector<const TrendPoint*>> seeds;
  std::map<double, std::vector<double>> places;
  Trend trend;
  for (const auto& [place, values] : by_place(points)) {
    if (values.size() == 1) trend.lone.push_back(place);
    places[place];
  }
  if (places.size() - trend.lone.size() < 2) trend.lone.clear();
  for (const double lone : trend.lone) places.erase(lone);
  for (const TrendPoint& point : points) {
    if (point.diverged == 0 && places.contains(point.x)) seeds[point.seed].push_back(&point);
  }
  std::vector<double> slopes;
  std::vector<double> numbers;
  double squares = std::numeric_limits<double>::infinity();
  for (const auto& [seed, of_seed] : seeds) {
    std::set<double> own;
    for (const TrendPoint* point : of_seed) own.insert(point->x);
    const std::optional<Slope> slope = slope_of(of_seed);
    if (!slope || own.size() < places.size()) {
      ++trend.incomplete;
      continue;
    }
    slopes.push_back(slope->value);
    squares = std::min(squares, slope->squares);
    for (const TrendPoint* point : of_seed) {
      numbers.push_back(point->y);
      places[point->x].push_back(point->y);
    }
  }
  if (slopes.empty()) return std::nullopt;
  trend.slope = {.value = mean(slopes), .seeds = std::ssize(slopes)};
  if (const auto spread = spread_of_rounded(slopes, step_of(numbers) / std::sqrt(squares))) {
    trend.slope.error = spread->deviation / std::sqrt(static_cast<double>(slopes.size()));
    trend.slope.freedom = spread->freedom;
  }
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& [place, values] : places) {
    x.push_back(place);
    y.push_back(mean(values));
  }
  for (std::size_t i = 1; i + 1 < x.size(); ++i) {
    if ((y[i] - y[i - 1]) * (y[i + 1] - y[i]) < 0) trend.turns.push_back(x[i]);
  }
  return trend;
}

}  // namespace xlm
