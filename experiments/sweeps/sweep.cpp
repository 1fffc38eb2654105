// Expands a sweep's description into the list of its points.
#include "experiments/sweeps/sweep.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/sweeps/point_rules.h"
#include "experiments/sweeps/sweep_conditions.h"

namespace xlm {
namespace {

/// A list of points, each a map of dotted keys to values.
std::vector<SweepPoint> read_points(const Yaml& sweep, const char* section) {
  std::vector<SweepPoint> points;
  const Yaml* list = sweep.given(section);
  if (list == nullptr) return points;
  if (!list->is_sequence()) fail_at(*list, fmt::format("sweep.{} must be a list of maps of keys to values", section));
  for (const Yaml& item : list->items) {
    if (!item.is_map()) fail_at(item, fmt::format("a point of sweep.{} must be a map of keys to values", section));
    points.emplace_back(item.entries.begin(), item.entries.end());
  }
  return points;
}

bool matches(const SweepPoint& point, const SweepPoint& partial) {
  return std::ranges::all_of(partial, [&](const auto& wanted) {
    const Yaml* value = value_at(point, wanted.first);
    return value != nullptr && to_json(*value) == to_json(wanted.second);
  });
}

/// Every key of the axes and of the extra points.
std::vector<std::string> keys_of(const std::vector<SweepAxis>& axes, const std::vector<SweepPoint>& included) {
  std::vector<std::string> keys;
  for (const SweepAxis& axis : axes) keys.insert(keys.end(), axis.keys.begin(), axis.keys.end());
  for (const SweepPoint& point : included) {
    for (const auto& [key, value] : point) keys.push_back(key);
  }
  return keys;
}

/// An exclusion by a key that is not swept would exclude nothing, without a message.
std::vector<SweepPoint> read_exclusions(const Yaml& sweep, const std::vector<SweepAxis>& axes) {
  const std::vector<std::string> swept = keys_of(axes, {});
  std::vector<SweepPoint> exclusions = read_points(sweep, "exclude");
  for (const SweepPoint& partial : exclusions) {
    for (const auto& [key, value] : partial) {
      if (contains(swept, key)) continue;
      fail_at(value, fmt::format("sweep.exclude names '{}', which is not swept{}", key, did_you_mean(key, swept)));
    }
  }
  return exclusions;
}

std::vector<SweepPoint> product(const Yaml& sweep, const std::vector<SweepAxis>& axes) {
  std::size_t count = 1;
  for (const SweepAxis& axis : axes) {
    count *= axis.choices.size();  // at most 100,000 times the nodes of a YAML file: no overflow
    if (count > kMaximumPoints) fail_at(sweep, fmt::format("the sweep has more than {} points", kMaximumPoints));
  }
  std::vector<SweepPoint> points;
  for (std::size_t index = 0; index < count; ++index) {
    SweepPoint point;
    std::size_t rest = count;
    std::size_t left = index;
    for (const SweepAxis& axis : axes) {
      rest /= axis.choices.size();
      const SweepPoint& choice = axis.choices[left / rest];
      left %= rest;
      point.insert(point.end(), choice.begin(), choice.end());
    }
    points.push_back(std::move(point));
  }
  return points;
}

void fix_axis(std::vector<SweepAxis>& axes, const FixedKey& fixed, const Yaml& sweep) {
  const auto axis = std::ranges::find_if(axes, [&](const SweepAxis& one) { return contains(one.keys, fixed.key); });
  if (axis == axes.end()) return;
  if (axis->part == SweepAxis::Part::kGrid) {
    axis->choices = {{{fixed.key, fixed.value}}};
    return;
  }
  std::erase_if(axis->choices,
                [&](const SweepPoint& choice) { return !is_same_value(*value_at(choice, fixed.key), fixed.value); });
  if (axis->part == SweepAxis::Part::kZip && !axis->choices.empty()) return;
  throw UsageError(fmt::format(
      "'{}': the sweep at {} varies '{}' together with other keys and has no such value\nadd the value there",
      fixed.assignment, sweep.where(), fixed.key));
}

/// Points of `include` that have the key would otherwise override the user's value.
void fix_in_points(std::vector<SweepPoint>& points, const FixedKey& fixed) {
  for (SweepPoint& point : points) {
    for (auto& [key, value] : point) {
      if (key == fixed.key) value = fixed.value;
    }
  }
}

}  // namespace

const Yaml* value_at(const SweepPoint& point, std::string_view key) {
  const auto found = std::ranges::find_if(point, [&](const auto& entry) { return entry.first == key; });
  return found == point.end() ? nullptr : &found->second;
}

std::vector<SweepPoint> grid_points(const Yaml& configuration, const Yaml& sweep, const std::vector<FixedKey>& fixed) {
  std::vector<SweepAxis> axes = sweep_axes(sweep);
  std::vector<SweepPoint> included = read_points(sweep, "include");
  for (const FixedKey& one : fixed) {
    fix_axis(axes, one, sweep);
    fix_in_points(included, one);
  }
  const std::vector<SweepPoint> excluded = read_exclusions(sweep, axes);
  std::vector<SweepPoint> points;
  if (!axes.empty() || included.empty()) points = product(sweep, axes);
  std::erase_if(points, [&](const SweepPoint& point) {
    return std::ranges::any_of(excluded, [&](const auto& partial) { return matches(point, partial); });
  });
  points.insert(points.end(), included.begin(), included.end());
  std::vector<std::string> keys = keys_of(axes, included);
  if (const Yaml* grid = sweep.find("grid")) {
    for (const auto& [key, values] : grid->entries) keys.push_back(key);  // also keys that a profile has removed
  }
  PointRules(configuration, sweep, keys).apply(points);
  if (points.empty()) fail_at(sweep, "the sweep has no points: all are excluded");
  return points;
}

Yaml at_point(Yaml base, const SweepPoint& point) {
  for (const auto& [key, value] : point) base.set(key, value);
  return base;
}

}  // namespace xlm
