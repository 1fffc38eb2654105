// The numbers of a setting by seed.
#include "results/store/seed_values.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "results/store/statistics.h"
#include "results/store/variation.h"

namespace xlm {

std::vector<double> SeedValues::means() const {
  std::vector<double> values;
  for (const auto& [group, numbers] : by_group) values.push_back(mean(numbers));
  return values;
}

std::string SeedValues::without_number_text() const {
  std::vector<std::string> parts;
  for (const auto& [status, ids] : without_number) parts.push_back(fmt::format("{} {}", ids.size(), status));
  return join(parts, ", ");
}

SeedValues seed_values(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& column,
                       const std::string& over) {
  SeedValues setting;
  const std::vector<Value>& values = runs.column(column);
  const std::vector<Value>& groups = runs.column(over);
  const std::vector<Value>& status = runs.column("status");
  for (const std::size_t row : rows) {
    const std::optional<double> number = as_number(values[row]);
    if (!number || !std::isfinite(*number)) {
      setting.without_number[to_text(status[row])].insert(runs.id(row));
      continue;
    }
    setting.by_group[to_text(groups[row])].push_back(*number);
    setting.runs.push_back(runs.id(row));
    setting.rows.push_back(row);
  }
  for (auto& [state, ids] : setting.without_number) {  // another evaluation of the run has one
    for (const std::string& id : setting.runs) ids.erase(id);
  }
  std::erase_if(setting.without_number, [](const auto& of_status) { return of_status.second.empty(); });
  setting.mixes = differing_keys(runs, setting.rows);
  std::erase(setting.mixes, over);
  return setting;
}

bool do_seeds_pair(const SeedValues& a, const SeedValues& b, const SeedPairs& pairs) {
  return pairs.a.size() > 1 || (pairs.a.size() == 1 && std::min(a.by_group.size(), b.by_group.size()) == 1);
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
