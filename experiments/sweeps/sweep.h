// What a sweep consists of: the list of its points, the same on any machine.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/yaml.h"

namespace xlm {

/// Values of one run of a sweep, by dotted key, that are laid over the base configuration.
using SweepPoint = std::vector<Yaml::Entry>;

/// Values that are chosen together: an axis of the product of which a sweep is made.
struct SweepAxis {
  std::vector<std::string> keys;
  std::vector<SweepPoint> choices;
};

/// The axes of `sweep` in order: every key of grid, every block of zip, random. Throws UsageError with file:line.
std::vector<SweepAxis> sweep_axes(const Yaml& sweep);

/// All points of `tree`'s `sweep`: the product of its axes in file order, the last changing fastest, without those that
/// `exclude` matches, then those of `include`; keys that `when` rules out at a point are dropped there. One empty point
/// where there is no sweep. Throws UsageError with file:line, and when there are more than 100,000.
std::vector<SweepPoint> expand_sweep(const Yaml& tree);

/// The run configuration of one point.
Yaml at_point(Yaml base, const SweepPoint& point);

/// A key that the user sets on the command line is not swept any more, and the same in all points of `include`. Throws
/// UsageError where it is part of a zip that does not have the value.
void fix_axes(Yaml& tree, const std::vector<std::string>& overrides);

}  // namespace xlm
