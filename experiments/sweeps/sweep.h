// The points of a sweep: a list that is the same on every machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/yaml.h"

namespace xlm {

/// The values of one run of a sweep by dotted key. They override the base configuration.
using SweepPoint = std::vector<Yaml::Entry>;

/// Values that are chosen together: one axis of the product that makes up a sweep.
struct SweepAxis {
  std::vector<std::string> keys;
  std::vector<SweepPoint> choices;
};

/// The axes of `sweep` in order: every key of grid, every block of zip, random. Throws UsageError with file:line.
std::vector<SweepAxis> sweep_axes(const Yaml& sweep);

/// All points of `tree`'s `sweep`: first the product of its axes in file order, the last axis changing fastest, without
/// the points that `exclude` matches; then the points of `include`. A key that `when` rules out at a point is dropped
/// from it. Without a sweep, one empty point. Of a search (experiments/sweeps/search.h) as many points as it will have,
/// at supposed settings. Throws UsageError with file:line, also for more than 100,000 points.
std::vector<SweepPoint> expand_sweep(const Yaml& tree);

/// Drops from points the keys that `when` of `tree`'s sweep rules out, and gives each the budget of `budget`. `swept`
/// are all keys that the sweep varies. Throws UsageError with file:line for a condition that names others, and for a
/// point that has a length of training besides the budget.
void complete_points(const Yaml& tree, const std::vector<std::string>& swept, std::vector<SweepPoint>& points);

/// The run configuration of one point.
Yaml at_point(Yaml base, const SweepPoint& point);

/// Fixes a key that the user sets on the command line: it is no longer swept, and has the same value in all points of
/// `include`. Throws UsageError if the key is in a zip that lacks the value.
void fix_axes(Yaml& tree, const std::vector<std::string>& overrides);

}  // namespace xlm
