// Reads `when` and `budget` of a sweep, and applies them.
#include "experiments/sweeps/point_rules.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/lookup.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"

namespace xlm {

PointRules::PointRules(const Yaml& configuration, const Yaml& sweep, const std::vector<std::string>& swept) {
  if (const Yaml* when = sweep.given("when")) read_when(configuration, *when, swept);
  if (const Yaml* budget = sweep.given("budget")) read_budget(*budget);
}

/// A misspelt key would be left in every point or in none, without a message.
void PointRules::read_when(const Yaml& configuration, const Yaml& when, const std::vector<std::string>& swept) {
  if (!when.is_map()) fail_at(when, "sweep.when must be a map: a swept key to the values of other keys that it needs");
  const auto is_swept = [&](const std::string& key) { return contains(swept, key); };
  for (const auto& [key, filters] : when.entries) {
    if (filters.is_null()) continue;  // a profile removes it like this
    if (!is_swept(key)) {
      fail_at(filters, fmt::format("sweep.when names '{}', which is not swept{}", key, did_you_mean(key, swept)));
    }
    if (!filters.is_map()) {
      fail_at(filters, fmt::format("sweep.when of '{}' must be a map, such as {{model.type: hourglass}}", key));
    }
    Rule rule{.key = key, .conditions = {}};
    for (const auto& [other, wanted] : filters.entries) {
      const Yaml* set = find_path(configuration, other);
      if (!is_swept(other) && set == nullptr) {
        fail_at(wanted, fmt::format("sweep.when of '{}' asks for '{}', which neither the sweep nor the configuration "
                                    "sets{}\nadd it to the configuration, even if it is the default",
                                    key, other, did_you_mean(other, swept)));
      }
      rule.conditions.push_back({.key = other,
                                 .otherwise = set == nullptr ? std::nullopt : std::optional<Yaml>(*set),
                                 .wanted = wanted.is_sequence() ? wanted.items : std::vector<Yaml>{wanted}});
    }
    rules_.push_back(std::move(rule));
  }
}

void PointRules::read_budget(const Yaml& budget) {
  constexpr std::string_view kForm = "sweep.budget must be {flops: NUMBER} or {seconds: NUMBER}";
  if (!budget.is_map()) fail_at(budget, std::string(kForm));
  for (const auto& [key, value] : budget.entries) {
    if (value.is_null()) continue;  // a profile removes it like this
    if ((key != "flops" && key != "seconds") || budget_) fail_at(value, std::string(kForm));
    const Json number = to_json(value);
    if (!number.is_number() || number.get<double>() <= 0) fail_at(value, std::string(kForm));
    budget_.emplace("train." + key, value);
  }
}

bool PointRules::holds(const Rule& rule, const SweepPoint& point) {
  return std::ranges::all_of(rule.conditions, [&](const Condition& condition) {
    const Yaml* value = value_at(point, condition.key);
    if (value == nullptr && condition.otherwise) value = &*condition.otherwise;
    return value != nullptr && std::ranges::any_of(condition.wanted, [&](const Yaml& wanted) {
             return to_json(*value) == to_json(wanted);
           });
  });
}

void PointRules::apply(std::vector<SweepPoint>& points) const {
  constexpr std::array<std::string_view, 5> kLengths{"steps", "epochs", "tokens", "flops", "seconds"};
  for (const Rule& rule : rules_) {
    for (SweepPoint& point : points) {
      if (!holds(rule, point)) std::erase_if(point, [&](const auto& entry) { return entry.first == rule.key; });
    }
  }
  if (!budget_) return;
  for (SweepPoint& point : points) {
    for (const std::string_view length : kLengths) {
      const Yaml* own = value_at(point, fmt::format("train.{}", length));
      if (own == nullptr) continue;
      fail_at(*own, fmt::format("sweep.budget gives every run the same length, and train.{} gives it another\n"
                                "leave one out",
                                length));
    }
    point.push_back(*budget_);
  }
}

}  // namespace xlm
