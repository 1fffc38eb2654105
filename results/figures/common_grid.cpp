// Runs whose numbers stand at other places of an axis, drawn as one line.
#include "results/figures/common_grid.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace xlm {
namespace {

using RunCurves = std::map<std::size_t, std::map<double, double>>;

RunCurves curves_of(const std::vector<FigureSample>& samples) {
  RunCurves curves;
  for (const FigureSample& sample : samples) curves[sample.run][as_number(sample.x).value_or(0)] = sample.y;
  return curves;
}

/// The value of a curve at a place. Beyond its ends its outermost value counts up to `further`, because runs of a
/// budget end at slightly different places; nothing beyond that.
std::optional<double> value_at(const std::map<double, double>& curve, double x, double further) {
  const auto next = curve.lower_bound(x);
  if (next == curve.end())
    return x <= curve.rbegin()->first + further ? std::optional(curve.rbegin()->second) : std::nullopt;
  if (next->first == x) return next->second;
  if (next == curve.begin()) return x >= next->first - further ? std::optional(next->second) : std::nullopt;
  const auto before = std::prev(next);
  return before->second + (x - before->first) / (next->first - before->first) * (next->second - before->second);
}

}  // namespace

bool have_other_places(const std::vector<FigureSample>& samples) {
  const RunCurves curves = curves_of(samples);
  std::map<double, std::size_t> runs_at;
  for (const auto& [run, curve] : curves) {
    for (const auto& [x, y] : curve) ++runs_at[x];
  }
  return std::any_of(runs_at.begin(), runs_at.end(), [&](const std::pair<const double, std::size_t>& place) {
    const auto within = std::count_if(curves.begin(), curves.end(), [&](const auto& run) {
      return run.second.begin()->first <= place.first && place.first <= run.second.rbegin()->first;
    });
    return place.second != static_cast<std::size_t>(within);
  });
}

std::vector<FigureSample> on_common_grid(const std::vector<FigureSample>& samples) {
  const RunCurves curves = curves_of(samples);
  const auto& longest = std::max_element(curves.begin(), curves.end(), [](const auto& a, const auto& b) {
                          return a.second.size() < b.second.size();
                        })->second;
  std::vector<FigureSample> placed;
  for (const auto& [run, curve] : curves) {
    for (auto at = longest.begin(); at != longest.end(); ++at) {
      const auto other = at == longest.begin() ? std::next(at) : std::prev(at);
      const double step = other == longest.end() ? 0 : std::abs(at->first - other->first);
      if (const auto y = value_at(curve, at->first, step / 2))
        placed.push_back({run, at->first, *y, samples.front().tokens});
    }
  }
  return placed;
}

}  // namespace xlm
