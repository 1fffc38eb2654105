// Numbers that may not become worse, and the file that holds them.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// Whether the numbers of this run become the new file, instead of being compared with it.
inline bool refreshes_budgets() { return std::getenv("XLM_NULL_CUDA_REFRESH") != nullptr; }

/// The number that may be `share` larger than its budget. Counts may not.
struct Slack {
  std::string key;
  double share;
};

/// What is worse than its budget, or has none: `measured` and `budgets` are objects of objects of numbers, of which
/// less is better.
inline std::vector<std::string> worse_than_budgets(const Json& measured, const Json& budgets,
                                                   const std::vector<Slack>& slacks = {}) {
  std::vector<std::string> worse;
  for (const auto& [row, numbers] : measured.items()) {
    for (const auto& [key, value] : numbers.items()) {
      if (!budgets.contains(row) || !budgets[row].contains(key)) {
        worse.push_back(fmt::format("{}: {} has no budget: make null-cuda REFRESH=1", row, key));
        continue;
      }
      const auto slack =
          std::find_if(slacks.begin(), slacks.end(), [&key = key](const Slack& each) { return each.key == key; });
      const double budget = budgets[row][key].get<double>();
      const double allowed = budget * (1 + (slack != slacks.end() ? slack->share : 0));
      if (value.get<double>() <= allowed) continue;
      worse.push_back(fmt::format("{}: {} is {}, and the budget {}", row, key, value.get<double>(), budget));
    }
  }
  return worse;
}

inline fs::path budget_file(const std::string& name) {
  return fs::path(XLM_SOURCE_DIR) / "tests/null_cuda" / (name + ".json");
}

inline Json read_budgets(const std::string& name) {
  const fs::path file = budget_file(name);
  return fs::exists(file) ? read_json_object(file) : Json::object();
}

/// Puts the rows of `measured` into the file; others stay.
inline void write_budgets(const std::string& name, const Json& measured) {
  Json all = read_budgets(name);
  for (const auto& [row, numbers] : measured.items()) all[row] = numbers;
  write_file(budget_file(name), json_text(all));
}

}  // namespace xlm
