// Why no run fulfils some conditions.
#include "results/store/unmet_condition.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxValues = 6;  // that are named besides the nearest

/// Different values of a column in `rows`, in order.
std::vector<Value> values_in(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& column) {
  const std::vector<Value>& all = runs.column(column);
  std::vector<Value> values;
  for (const std::size_t row : rows) {
    if (!is_missing(all[row])) values.push_back(all[row]);
  }
  std::sort(values.begin(), values.end(), value_less);
  values.erase(std::unique(values.begin(), values.end(), same_value), values.end());
  return values;
}

/// How far a value is from one that was asked for: numbers by their difference, text by its letters, where a beginning
/// of the other is nearest.
double distance(const Value& value, const Value& asked) {
  const auto a = as_number(value);
  const auto b = as_number(asked);
  if (a && b) return std::abs(*a - *b);
  const std::string text = to_text(value);
  const std::string other = to_text(asked);
  const bool begins = text.starts_with(other) || other.starts_with(text);
  return begins ? 0 : static_cast<double>(edit_distance(text, other));
}

/// What runs have in the column instead: the nearest, and a few of the others.
std::string instead(const std::vector<Value>& values, const Filter& filter) {
  if (values.empty()) return "they have no " + filter.column;
  const Value& asked = filter.values.front().value;
  const auto nearest = std::min_element(values.begin(), values.end(), [&](const Value& a, const Value& b) {
    return distance(a, asked) < distance(b, asked);
  });
  std::vector<std::string> others;
  for (const Value& value : values) {
    if (!same_value(value, *nearest)) others.push_back(to_word(value));
  }
  const std::string further = others.empty() ? "" : ", besides " + listed_names(others, kMaxValues);
  return fmt::format("the nearest there is: {}{}", to_word(*nearest), further);
}

}  // namespace

std::string unmet_condition(RunTable& runs, const std::vector<Filter>& filters, const std::vector<std::string>& named) {
  std::vector<std::string> columns = named;
  for (const Filter& filter : filters) columns.push_back(filter.column);
  std::vector<std::size_t> rows = runs.select({}, columns);
  if (rows.empty()) return "there are no runs";
  for (std::size_t i = 0; i < filters.size(); ++i) {
    std::vector<std::size_t> kept = runs.select(rows, {filters[i]});
    if (!kept.empty()) {
      rows = std::move(kept);
      continue;
    }
    std::string who = "no run";
    if (i > 0) who = fmt::format("none of {} run{}", rows.size(), rows.size() == 1 ? "" : "s");
    std::vector<std::string> before;
    for (std::size_t k = 0; k < i; ++k) before.push_back(filters[k].text());
    if (i > 0) who += " with " + listed_names(before, before.size());
    return fmt::format("{} has {}; {}", who, filters[i].text(),
                       instead(values_in(runs, rows, filters[i].column), filters[i]));
  }
  return "";
}

}  // namespace xlm
