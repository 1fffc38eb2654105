// How a value goes along a column.
#include "results/claims/trend.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "results/store/statistics.h"

namespace xlm {
namespace {

/// Ranks from 1; equal values share the mean of theirs.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = static_cast<double>(begin + end + 1) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = shared;
    begin = end;
  }
  return ranks;
}

}  // namespace

std::optional<double> rank_correlation(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() < 2) return std::nullopt;
  const std::vector<double> rx = ranks_of(x);
  const std::vector<double> ry = ranks_of(y);
  const double centre = mean(rx);
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < rx.size(); ++i) {
    xx += (rx[i] - centre) * (rx[i] - centre);
    yy += (ry[i] - centre) * (ry[i] - centre);
    xy += (rx[i] - centre) * (ry[i] - centre);
  }
  return xx > 0 && yy > 0 ? std::optional(xy / std::sqrt(xx * yy)) : std::nullopt;
}

std::optional<Trend> trend_of(const std::vector<TrendPoint>& points) {
  std::map<std::string, std::vector<const TrendPoint*>> seeds;
  std::map<double, std::vector<double>> places;
  for (const TrendPoint& point : points) {
    seeds[point.seed].push_back(&point);
    places[point.x].push_back(point.y);
  }
  std::vector<TrendPoint> centred;
  std::erase_if(seeds, [](const auto& of_seed) { return of_seed.second.size() < 2; });
  for (const auto& [seed, of_seed] : seeds) {
    double x = 0;
    double y = 0;
    for (const TrendPoint* point : of_seed) {
      x += point->x / static_cast<double>(of_seed.size());
      y += point->y / static_cast<double>(of_seed.size());
    }
    for (const TrendPoint* point : of_seed) centred.push_back({seed, point->x - x, point->y - y});
  }
  double xx = 0;
  double xy = 0;
  for (const TrendPoint& point : centred) {
    xx += point.x * point.x;
    xy += point.x * point.y;
  }
  if (xx <= 0) return std::nullopt;
  Trend trend{.places = places.size()};
  trend.slope.value = xy / xx;
  trend.slope.seeds = std::ssize(seeds);
  trend.slope.freedom = static_cast<double>(centred.size()) - static_cast<double>(seeds.size()) - 1;
  double residue = 0;
  for (const TrendPoint& point : centred) {
    residue += (point.y - trend.slope.value * point.x) * (point.y - trend.slope.value * point.x);
  }
  if (trend.slope.freedom > 0) trend.slope.error = std::sqrt(residue / trend.slope.freedom / xx);
  std::vector<double> x;
  std::vector<double> y;
  for (const auto& [place, values] : places) {
    x.push_back(place);
    y.push_back(mean(values));
  }
  trend.rank_correlation = rank_correlation(x, y);
  return trend;
}

}  // namespace xlm
