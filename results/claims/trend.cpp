// How a value goes along a column.
#include "results/claims/trend.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
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
  using Place = std::pair<std::string, double>;
  const auto place_of = [](const TrendPoint& point) {
    return Place(point.setting, point.setting.empty() ? point.x : 0);
  };
  using BySeed = std::map<std::string, std::vector<const TrendPoint*>>;
  std::map<Place, BySeed> places;
  for (const TrendPoint& point : points) {
    if (point.diverged == 0) places[place_of(point)][point.seed].push_back(&point);
  }
  const auto is_lone = [](const auto& place) { return place.second.size() == 1; };
  Trend trend;
  if (std::ssize(places) - std::ranges::count_if(places, is_lone) >= 2) {
    for (const auto& [place, there] : places) {
      if (there.size() == 1) trend.lone.push_back(there.begin()->second.front()->x);
    }
    std::erase_if(places, is_lone);
  }
  BySeed seeds;
  std::map<std::string, std::size_t> places_of;
  for (const auto& [place, there] : places) {
    for (const auto& [seed, of_seed] : there) {
      ++places_of[seed];
      seeds[seed].insert(seeds[seed].end(), of_seed.begin(), of_seed.end());
    }
  }
  std::vector<double> slopes;
  std::vector<double> numbers;
  std::map<Place, std::pair<std::vector<double>, std::vector<double>>> complete;  // x and y
  double squares = std::numeric_limits<double>::infinity();
  for (const auto& [seed, of_seed] : seeds) {
    const std::optional<Slope> slope = slope_of(of_seed);
    if (!slope || places_of[seed] < places.size()) {
      ++trend.incomplete;
      continue;
    }
    slopes.push_back(slope->value);
    squares = std::min(squares, slope->squares);
    for (const TrendPoint* point : of_seed) {
      auto& [x, y] = complete[place_of(*point)];
      x.push_back(point->x);
      y.push_back(point->y);
      numbers.push_back(point->y);
    }
  }
  if (slopes.empty()) return std::nullopt;
  trend.slope = {.value = mean(slopes), .seeds = std::ssize(slopes)};
  if (const auto spread = spread_of_rounded(slopes, step_of(numbers) / std::sqrt(squares))) {
    trend.slope.error = spread->deviation / std::sqrt(static_cast<double>(slopes.size()));
    trend.slope.freedom = spread->freedom;
  }
  std::map<double, double> means;
  for (const auto& [place, there] : complete) means[mean(there.first)] = mean(there.second);
  for (auto at = std::next(means.begin()); at != means.end() && std::next(at) != means.end(); ++at) {
    const double before = at->second - std::prev(at)->second;
    if (before * (std::next(at)->second - at->second) < 0) trend.turns.push_back(at->first);
  }
  return trend;
}

}  // namespace xlm
