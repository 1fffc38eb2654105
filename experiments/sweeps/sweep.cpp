// Expands a sweep's description into the list of its points.
#include "experiments/sweeps/sweep.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"
#include "experiments/sweeps/search.h"
#include "experiments/sweeps/sweep_conditions.h"

namespace xlm {
namespace {

constexpr std::size_t kMaximumPoints = 100'000;

void check_sections(const Yaml& sweep) {
  const std::vector<std::string> known{"grid",           "zip",    "random", "include", "exclude", "when",
                                       "early_stopping", "budget", "search"};
  if (!sweep.is_map()) fail_at(sweep, fmt::format("sweep must be a map with some of {}", join(known, ", ")));
  for (const auto& [key, value] : sweep.entries) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    fail_at(value, fmt::format("unknown key '{}' in 'sweep'{}; it takes {}", key, did_you_mean(key, known),
                               join(known, ", ")));
  }
}

const Yaml* value_at(const SweepPoint& point, const std::string& key) {
  for (const auto& [name, value] : point) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool same_setting_value(const Yaml& a, const Yaml& b) { return to_json(a) == to_json(b); }

/// A list of points, each a map of dotted keys to values.
std::vector<SweepPoint> read_points(const Yaml& sweep, const char* section) {
  std::vector<SweepPoint> points;
  const Yaml* list = sweep.find(section);
  if (list == nullptr || list->is_null()) return points;
  if (!list->is_sequence()) fail_at(*list, fmt::format("sweep.{} must be a list of maps of keys to values", section));
  for (const Yaml& item : list->items) {
    if (!item.is_map()) fail_at(item, fmt::format("a point of sweep.{} must be a map of keys to values", section));
    points.emplace_back(item.entries.begin(), item.entries.end());
  }
  return points;
}

bool matches(const SweepPoint& point, const SweepPoint& partial) {
  return std::all_of(partial.begin(), partial.end(), [&](const auto& wanted) {
    const Yaml* value = value_at(point, wanted.first);
    return value != nullptr && same_setting_value(*value, wanted.second);
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
      if (std::find(swept.begin(), swept.end(), key) != swept.end()) continue;
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

/// Whether a point, over the base, has one of the values that `filters` lists for each key.
bool holds(const Yaml& tree, const SweepPoint& point, const Yaml& filters) {
  return std::all_of(filters.entries.begin(), filters.entries.end(), [&](const auto& condition) {
    const Yaml* value = value_at(point, condition.first);
    if (value == nullptr) value = find_path(tree, condition.first);
    if (value == nullptr) return false;
    const Yaml& wanted = condition.second;
    if (!wanted.is_sequence()) return same_setting_value(*value, wanted);
    return std::any_of(wanted.items.begin(), wanted.items.end(),
                       [&](const Yaml& w) { return same_setting_value(*value, w); });
  });
}

/// A misspelt key would be left in every point or in none, without a message.
void check_when(const Yaml& tree, const Yaml& when, const std::vector<std::string>& swept) {
  if (!when.is_map()) fail_at(when, "sweep.when must be a map: a swept key to the values of other keys that it needs");
  const auto is_swept = [&](const std::string& key) {
    return std::find(swept.begin(), swept.end(), key) != swept.end();
  };
  for (const auto& [key, filters] : when.entries) {
    if (filters.is_null()) continue;  // a profile removes it like this
    if (!is_swept(key)) {
      fail_at(filters, fmt::format("sweep.when names '{}', which is not swept{}", key, did_you_mean(key, swept)));
    }
    if (!filters.is_map()) {
      fail_at(filters, fmt::format("sweep.when of '{}' must be a map, such as {{model.type: hourglass}}", key));
    }
    for (const auto& [other, wanted] : filters.entries) {
      if (is_swept(other) || find_path(tree, other) != nullptr) continue;
      fail_at(wanted, fmt::format("sweep.when of '{}' asks for '{}', which neither the sweep nor the configuration "
                                  "sets{}\nadd it to the configuration, even if it is the default",
                                  key, other, did_you_mean(other, swept)));
    }
  }
}

void drop_ruled_out(const Yaml& tree, const Yaml& when, std::vector<SweepPoint>& points) {
  for (const auto& [key, filters] : when.entries) {
    if (filters.is_null()) continue;
    for (SweepPoint& point : points) {
      if (holds(tree, point, filters)) continue;
      std::erase_if(point, [&name = key](const auto& entry) { return entry.first == name; });
    }
  }
}

/// Keeps the places of the zip block where `key` is `value`. Returns false if there are none.
bool keep_in_zip(Yaml& sweep, const std::string& key, const Yaml& value) {
  Yaml* zip = sweep.find("zip");
  if (zip == nullptr) return false;
  std::vector<Yaml*> blocks{zip};
  if (zip->is_sequence()) {
    blocks.clear();
    for (Yaml& block : zip->items) blocks.push_back(&block);
  }
  for (Yaml* block : blocks) {
    const Yaml* values = block->find(key);
    if (values == nullptr) continue;
    std::vector<bool> kept;
    for (const Yaml& item : values->items) kept.push_back(is_same_value(item, value));
    if (std::find(kept.begin(), kept.end(), true) == kept.end()) return false;
    for (auto& [name, node] : block->entries) {
      std::size_t place = 0;
      std::erase_if(node.items, [&](const Yaml&) { return !kept[place++]; });
    }
    return true;
  }
  return false;
}

/// A key of a search that the user sets is no longer searched. It stays known to the conditions of `when`.
void fix_in_search(Yaml& sweep, const std::string& key, const Yaml& value) {
  Yaml* search = sweep.find("search");
  if (search == nullptr || !search->is_map()) return;
  if (key == "seed") {
    Yaml seeds{.kind = Yaml::Kind::kSequence, .source = value.source, .line = value.line};
    seeds.items = {value};
    search->set("seeds", std::move(seeds));
  }
  Yaml* keys = search->find("keys");
  if (keys == nullptr || !keys->is_map()) return;
  if (Yaml* range = keys->find(key)) *range = Yaml();
}

std::vector<SweepPoint> supposed_points(const Yaml& tree, const Search& search) {
  std::vector<SweepPoint> points;
  for (const SearchSetting& setting : supposed_settings(search)) {
    for (SweepPoint& point : points_of_trial(tree, search, setting)) points.push_back(std::move(point));
  }
  return points;
}

/// Points of `include` that have `key` would otherwise override the user's value.
void fix_in_extra_points(Yaml& sweep, const std::string& key, const Yaml& value) {
  Yaml* points = sweep.find("include");
  if (points == nullptr) return;
  for (Yaml& point : points->items) {
    if (Yaml* own = point.find(key)) *own = value;
  }
}

/// Every point gets the budget of `sweep.budget`.
void apply_budget(const Yaml& budget, std::vector<SweepPoint>& points) {
  constexpr std::array<std::string_view, 5> kLengths{"steps", "epochs", "tokens", "flops", "seconds"};
  constexpr std::string_view kForm = "sweep.budget must be {flops: NUMBER} or {seconds: NUMBER}";
  if (!budget.is_map()) fail_at(budget, std::string(kForm));
  std::optional<Yaml::Entry> given;
  for (const auto& [key, value] : budget.entries) {
    if (value.is_null()) continue;  // a profile removes it like this
    if ((key != "flops" && key != "seconds") || given) fail_at(value, std::string(kForm));
    const Json number = to_json(value);
    if (!number.is_number() || number.get<double>() <= 0) fail_at(value, std::string(kForm));
    given.emplace("train." + key, value);
  }
  if (!given) return;
  for (SweepPoint& point : points) {
    for (const std::string_view length : kLengths) {
      const Yaml* own = value_at(point, fmt::format("train.{}", length));
      if (own == nullptr) continue;
      fail_at(*own, fmt::format("sweep.budget gives every run the same length, and train.{} gives it another\n"
                                "leave one out",
                                length));
    }
    point.push_back(*given);
  }
}

}  // namespace

void complete_points(const Yaml& tree, const std::vector<std::string>& swept, std::vector<SweepPoint>& points) {
  const Yaml* sweep = tree.find("sweep");
  if (const Yaml* when = sweep->find("when"); when != nullptr && !when->is_null()) {
    check_when(tree, *when, swept);
    drop_ruled_out(tree, *when, points);
  }
  if (const Yaml* budget = sweep->find("budget"); budget != nullptr && !budget->is_null()) {
    apply_budget(*budget, points);
  }
}

std::vector<SweepPoint> expand_sweep(const Yaml& tree) {
  const Yaml* sweep = tree.find("sweep");
  if (sweep == nullptr || sweep->is_null()) return {SweepPoint{}};
  check_sections(*sweep);
  if (const std::optional<Search> search = read_search(tree)) {
    const auto runs = static_cast<std::size_t>(search->trials) * search->seeds.size();  // at most 10,000 times 100
    if (runs > kMaximumPoints) fail_at(*sweep, fmt::format("the search has more than {} runs", kMaximumPoints));
    return supposed_points(tree, *search);
  }
  const std::vector<SweepAxis> axes = sweep_axes(*sweep);
  const std::vector<SweepPoint> included = read_points(*sweep, "include");
  const std::vector<SweepPoint> excluded = read_exclusions(*sweep, axes);
  std::vector<SweepPoint> points;
  if (!axes.empty() || included.empty()) points = product(*sweep, axes);
  std::erase_if(points, [&](const SweepPoint& point) {
    return std::any_of(excluded.begin(), excluded.end(), [&](const auto& partial) { return matches(point, partial); });
  });
  points.insert(points.end(), included.begin(), included.end());
  std::vector<std::string> keys = keys_of(axes, included);
  if (const Yaml* grid = sweep->find("grid"); grid != nullptr && grid->is_map()) {
    for (const auto& [key, values] : grid->entries) keys.push_back(key);  // also keys that a profile has removed
  }
  complete_points(tree, keys, points);
  if (points.empty()) fail_at(*sweep, "the sweep has no points: all are excluded");
  return points;
}

Yaml at_point(Yaml base, const SweepPoint& point) {
  for (const auto& [key, value] : point) base.set(key, value);
  return base;
}

void fix_axes(Yaml& tree, const std::vector<std::string>& overrides) {
  Yaml* sweep = tree.find("sweep");
  if (sweep == nullptr || !sweep->is_map()) return;
  Yaml* grid = sweep->find("grid");
  const std::vector<SweepAxis> axes = sweep_axes(*sweep);
  for (const std::string& assignment : overrides) {
    const std::string key = assignment.substr(0, assignment.find('='));
    const Yaml* given = find_path(tree, key);
    if (given == nullptr) continue;  // a list that belongs to the sweep
    const Yaml value = *given;
    fix_in_extra_points(*sweep, key, value);
    fix_in_search(*sweep, key, value);
    const auto axis = std::find_if(axes.begin(), axes.end(), [&](const SweepAxis& a) {
      return std::find(a.keys.begin(), a.keys.end(), key) != a.keys.end();
    });
    if (axis == axes.end()) continue;
    if (Yaml* values = grid == nullptr ? nullptr : grid->find(key)) {
      values->items = {value};
    } else if (!keep_in_zip(*sweep, key, value)) {
      throw UsageError(fmt::format(
          "'{}': the sweep at {} varies '{}' together with other keys and has no such value\nadd the value there",
          assignment, sweep->where(), key));
    }
  }
}

}  // namespace xlm
