// `when` and `budget` of a sweep: what they make of its points.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/sweeps/sweep.h"

namespace xlm {

class PointRules {
 public:
  PointRules() = default;

  /// Those of `sweep`, a section of `configuration`. `swept` are all keys that the sweep varies. Throws UsageError with
  /// file:line, also for a condition that names others.
  PointRules(const Yaml& configuration, const Yaml& sweep, const std::vector<std::string>& swept);

  /// Drops from points the keys that `when` rules out, and gives each the budget. Throws UsageError with file:line for
  /// a point that has a length of training besides the budget.
  void apply(std::vector<SweepPoint>& points) const;

 private:
  struct Condition {
    std::string key;
    std::optional<Yaml> otherwise;  // the value of points without the key: that of the configuration
    std::vector<Yaml> wanted;       // one of them
  };
  struct Rule {
    std::string key;  // stays in points that meet all conditions
    std::vector<Condition> conditions;
  };

  void read_when(const Yaml& configuration, const Yaml& when, const std::vector<std::string>& swept);
  void read_budget(const Yaml& budget);
  static bool holds(const Rule& rule, const SweepPoint& point);

  std::vector<Rule> rules_;
  std::optional<Yaml::Entry> budget_;
};

}  // namespace xlm
