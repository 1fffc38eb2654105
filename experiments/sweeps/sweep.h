// The points of a sweep: a list that is the same on every machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"

namespace xlm {

inline constexpr std::size_t kMaximumPoints = 100'000;

/// The values of one run of a sweep by dotted key. They override the base configuration.
using SweepPoint = std::vector<Yaml::Entry>;

/// Values that are chosen together: one axis of the product that makes up a sweep.
struct SweepAxis {
  enum class Part { kGrid, kZip, kRandom };
  Part part = Part::kGrid;
  std::vector<std::string> keys;
  std::vector<SweepPoint> choices;
};

/// The axes of `sweep` in order: every key of grid, every block of zip, random. Throws UsageError with file:line.
std::vector<SweepAxis> sweep_axes(const Yaml& sweep);

/// A key that the user sets on the command line: it is no longer swept.
struct FixedKey {
  std::string key;
  Yaml value;
  std::string assignment;  // KEY=VALUE
};

/// All points of `sweep`, a section of `configuration`: first the product of its axes in file order, the last axis
/// changing fastest, without the points that `exclude` matches; then the points of `include`. A key that `when` rules
/// out at a point is dropped from it. A fixed key has its value in all points. Throws UsageError with file:line, also
/// for more than kMaximumPoints, and for a fixed key of a zip that lacks the value.
std::vector<SweepPoint> grid_points(const Yaml& configuration, const Yaml& sweep,
                                    const std::vector<FixedKey>& fixed = {});

/// The value of a key in a point, or null.
const Yaml* value_at(const SweepPoint& point, std::string_view key);

/// The run configuration of one point.
Yaml at_point(Yaml base, const SweepPoint& point);

}  // namespace xlm
