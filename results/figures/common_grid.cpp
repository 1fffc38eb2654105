// Runs whose numbers stand at other places of an axis, drawn as one line.
#include "results/figures/common_grid.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

namespace xlm {
namespace {

using RunCurves = std::map<std::size_t, std::map<double, double>>;

RunCurves curves_of(const std::vector<FigureSample>& samples) {
  RunCurves curves;
  for (const FigureSample& sample : samples) curves[sample.run][as_number(sample.x).value_or(0)] = sample.y;
  return curves;
}

double on_line(const std::pair<const double, double>& a, const std::pair<const double, double>& b, double x) {
  return a.second + (x - a.first) / (b.first - a.first) * (b.second - a.second);
}

/// The value of a curve at a place between its first and its last.
std::optional<double> value_at(const std::map<double, double>& curve, double x) {
  const auto next = curve.lower_bound(x);
  if (next == curve.end()) return std::nullopt;
  if (next->first == x) return next->second;
  return next == curve.begin() ? std::nullopt : std::optional(on_line(*std::prev(next), *next, x));
}

/// Half of the distance from a place of the grid to the one before it, or of the first to the next one.
double half_step(const std::set<double>& grid, double x) {
  const auto at = grid.find(x);
  const auto other = at == grid.begin() ? std::next(at) : std::prev(at);
  return other == grid.end() ? 0 : std::abs(x - *other) / 2;
}

}  // namespace

bool have_other_places(const std::vector<FigureSample>& samples) {
  const RunCurves curves = curves_of(samples);
  std::map<double, std::size_t> runs_at;
  for (const auto& [run, curve] : curves) {
    for (const auto& [x, y] : curve) ++runs_at[x];
  }
  return std::ranges::any_of(runs_at, [&](const std::pair<const double, std::size_t>& place) {
    const auto within = std::ranges::count_if(curves, [&](const auto& run) {
      return run.second.begin()->first <= place.first && place.first <= run.second.rbegin()->first;
    });
    return place.second != static_cast<std::size_t>(within);
  });
}

bool have_one_each(const std::vector<FigureSample>& samples) {
  const RunCurves curves = curves_of(samples);
  std::set<double> places;
  for (const auto& [run, curve] : curves) places.insert(curve.begin()->first);
  return places.size() > 1 && std::ranges::all_of(curves, [](const auto& run) { return run.second.size() == 1; });
}

std::vector<FigureSample> on_common_grid(const std::vector<FigureSample>& samples) {
  const RunCurves curves = curves_of(samples);
  const auto& longest = std::ranges::max_element(curves, [](const auto& a, const auto& b) {
                          return a.second.size() < b.second.size();
                        })->second;
  std::set<double> grid;
  for (const auto& [x, y] : longest) grid.insert(x);
  // Others may begin before it and end behind it. Runs of a budget begin and end at slightly different places: the grid
  // begins where all of these have begun, and ends where the first of them ends. One that ends before the next place of
  // the grid is none of these.
  const double first = *grid.begin();
  const double last = *grid.rbegin();
  const double around_first = half_step(grid, first);
  const double around_last = half_step(grid, last);
  double begin = first;
  double end = last;
  for (const auto& [run, curve] : curves) {
    const double from = curve.begin()->first;
    const double to = curve.rbegin()->first;
    if (std::abs(from - first) <= around_first && to >= first + 2 * around_first) begin = std::max(begin, from);
    if (std::abs(to - last) <= around_last && from <= last - 2 * around_last) end = std::min(end, to);
    for (const auto& [x, y] : curve) {
      if (x < first - around_first || x > last + around_last) grid.insert(x);
    }
  }
  if (begin < end) {
    for (const auto& [from, to] : {std::pair(first, begin), std::pair(last, end)}) {
      grid.erase(from);
      grid.insert(to);
    }
  }
  for (const auto& [run, curve] : curves) {  // one between two places would have none
    const auto next = grid.lower_bound(curve.begin()->first);
    if (next != grid.end() && *next <= curve.rbegin()->first) continue;
    for (const auto& [x, y] : curve) grid.insert(x);
  }
  std::vector<FigureSample> placed;
  for (const auto& [run, curve] : curves) {
    for (const double x : grid) {
      if (const auto y = value_at(curve, x)) {
        placed.push_back({run, x, *y, samples.front().tokens});
      }
    }
  }
  return placed;
}

}  // namespace xlm
