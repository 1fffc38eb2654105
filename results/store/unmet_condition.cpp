// Why no run fulfils some conditions.
#include "results/store/unmet_condition.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxValues = 6;  // that are named besides the nearest

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
  const auto nearest = std::ranges::min_element(
      values, [&](const Value& a, const Value& b) { return distance(a, asked) < distance(b, asked); });
  std::vector<std::string> others;
  for (const Value& value : values) {
    if (!same_value(value, *nearest)) others.push_back(to_word(value));
  }
  const std::string further = others.empty() ? "" : ", besides " + listed_names(others, kMaxValues);
  return fmt::format("the nearest there is: {}{}", to_word(*nearest), further);
}

/// Whether a row is an evaluation whose setting at.KEY is not its run's.
bool differs_from_run(RunTable& runs, std::size_t row, const std::string& setting) {
  const Value& made_with = runs.column(setting)[row];
  const Value& own = runs.column_or_nothing(setting.substr(kSettingPrefix.size()))[row];
  return row >= runs.size() && !is_missing(made_with) && !same_value(made_with, own);
}

/// The settings that conditions and names ask for.
std::vector<std::string> asked_settings(const std::vector<Filter>& filters, const std::vector<std::string>& named) {
  std::vector<std::string> columns = named;
  for (const Filter& filter : filters) columns.push_back(filter.column);
  std::vector<std::string> asked;
  for (const std::string& column : columns) {
    const bool is_new = std::ranges::find(asked, column) == asked.end();
    if (is_new && column.starts_with(kSettingPrefix)) asked.push_back(column);
  }
  return asked;
}

}  // namespace

std::string further_settings(RunTable& runs, const std::vector<Filter>& filters,
                             const std::vector<std::string>& named) {
  const std::vector<std::string> asked = asked_settings(filters, named);
  if (asked.empty()) return "";
  std::vector<std::string> settings = runs.column_names();
  std::erase_if(settings, [](const std::string& name) { return !name.starts_with(kSettingPrefix); });
  std::map<std::string, std::set<std::string>> others;  // values by setting
  const auto is_asked = [&](const std::string& setting) { return std::ranges::find(asked, setting) != asked.end(); };
  for (const std::size_t row : runs.select(filters, settings)) {
    const auto differs = [&](const std::string& setting) { return differs_from_run(runs, row, setting); };
    const bool is_meant = std::ranges::any_of(
        settings, [&](const std::string& setting) { return is_asked(setting) && differs(setting); });
    if (!is_meant) continue;
    for (const std::string& setting : settings) {
      if (!is_asked(setting) && differs(setting)) others[setting].insert(to_word(runs.column(setting)[row]));
    }
  }
  std::vector<std::string> parts;
  for (const auto& [setting, values] : others) {
    parts.push_back(fmt::format("{}={}", setting, join({values.begin(), values.end()}, " or ")));
  }
  return parts.empty() ? ""
                       : fmt::format("evaluations with {} also have {}: name that setting too", join(asked, ", "),
                                     join(parts, ", "));
}

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
    if (i > 0) who = "none of " + counted(rows.size(), "run");
    std::vector<std::string> before;
    for (std::size_t k = 0; k < i; ++k) before.push_back(filters[k].text());
    if (i > 0) who += " with " + listed_names(before, before.size());
    const std::vector<Filter> so_far(filters.begin(), filters.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    const std::string further = further_settings(runs, so_far, named);
    return fmt::format("{} has {}; {}", who, filters[i].text(),
                       further.empty() ? instead(runs.values_in(rows, filters[i].column), filters[i]) : further);
  }
  return "";
}

}  // namespace xlm
