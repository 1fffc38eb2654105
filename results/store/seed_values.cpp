// The numbers of a setting by seed.
#include "results/store/seed_values.h"

#include <algorithm>
#include <cmath>

#include "results/store/statistics.h"
#include "results/store/variation.h"

namespace xlm {

std::vector<double> SeedValues::means() const {
  std::vector<double> values;
  for (const auto& [group, numbers] : by_group) values.push_back(mean(numbers));
  return values;
}

SeedValues seed_values(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& column,
                       const std::string& over) {
  SeedValues setting;
  const std::vector<Value>& values = runs.column(column);
  const std::vector<Value>& groups = runs.column(over);
  for (const std::size_t row : rows) {
    const std::optional<double> number = as_number(values[row]);
    if (!number || !std::isfinite(*number)) continue;
    setting.by_group[to_text(groups[row])].push_back(*number);
    setting.runs.push_back(runs.id(row));
    setting.rows.push_back(row);
  }
  setting.mixes = differing_keys(runs, setting.rows);
  std::erase(setting.mixes, over);
  return setting;
}

SeedPairs common_seeds(const SeedValues& a, const SeedValues& b) {
  SeedPairs pairs;
  for (const auto& [group, numbers] : a.by_group) {
    const auto other = b.by_group.find(group);
    if (other == b.by_group.end()) continue;
    pairs.a.push_back(mean(numbers));
    pairs.b.push_back(mean(other->second));
  }
  return pairs;
}

}  // namespace xlm
