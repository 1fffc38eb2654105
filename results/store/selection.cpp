// Chooses settings by a measured number.
#include "results/store/selection.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>

#include "base/error.h"
#include "base/text.h"
#include "results/run_folder/run_folder.h"
#include "results/store/directions.h"
#include "results/store/formula.h"
#include "results/store/statistics.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxPlaces = 6;      // that a sentence names
constexpr std::size_t kLeastForAnEnd = 3;  // values tried, for an end to mean something

using RowsBySetting = std::map<std::vector<Value>, std::vector<std::size_t>, ValueOrder>;

/// What is wrong with a selection, whatever the runs are; empty: nothing.
std::string problem_of_selection(const Selection& selection) {
  for (const std::string& key : selection.over) {
    if (key == "seed") return "'seed' cannot be chosen: the mean of a setting is over its seeds";
    if (key.starts_with("data.")) return fmt::format("'{}' cannot be chosen: other data are another task", key);
    if (key.starts_with(kSettingPrefix) || is_formula(key)) {
      return fmt::format("'{}' cannot be chosen: give a key of the configuration, such as optimizer.lr", key);
    }
  }
  if (is_of_test(selection.by)) {
    return fmt::format("a choice by {} would be made on the test split\nchoose on validation, such as valid.bpc",
                       selection.by);
  }
  return "";
}

std::string setting_text(const std::string& key, const Value& value) {
  return key + "=" + (is_missing(value) ? "null" : to_text(value));
}

std::vector<Value> values_in_row(const std::vector<const std::vector<Value>*>& columns, std::size_t row) {
  std::vector<Value> values;
  for (const std::vector<Value>* column : columns) values.push_back((*column)[row]);
  return values;
}

/// What decides, for each row. An evaluation of a run that measured something else has the number of its run.
std::vector<Value> deciding_numbers(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& by) {
  std::vector<Value> numbers = runs.column(by);
  for (const std::size_t row : rows) {
    if (row < runs.size() || as_number(numbers[row])) continue;
    numbers[row] = numbers[*runs.row_of(runs.id(row))];
  }
  return numbers;
}

/// Runs among the rows that have not come to their end.
std::size_t count_open(RunTable& runs, const std::vector<std::size_t>& rows) {
  const std::set<std::string_view> ended{name_of(RunStatus::kDone), name_of(RunStatus::kDiverged),
                                         name_of(RunStatus::kPruned)};
  const std::vector<Value>& statuses = runs.column("status");
  std::set<std::string> open;
  for (const std::size_t row : rows) {
    if (!ended.contains(to_text(statuses[row]))) open.insert(runs.id(row));
  }
  return open.size();
}

/// Whether a chosen number is the least or the greatest of those that were tried for its key.
bool lies_at_end(const SettingCandidate& best, const std::vector<SettingCandidate>& candidates) {
  for (std::size_t key = 0; key < best.values.size(); ++key) {
    std::set<double> tried;
    for (const SettingCandidate& candidate : candidates) {
      if (const auto number = as_number(candidate.values[key])) tried.insert(*number);
    }
    const std::optional<double> chosen = as_number(best.values[key]);
    if (!chosen || tried.size() < kLeastForAnEnd) continue;
    if (*chosen == *tried.begin() || *chosen == *tried.rbegin()) return true;
  }
  return false;
}

void check_selection_columns(RunTable& runs, const Selection& selection) {
  for (const std::string& key : selection.over) {
    runs.column(key);  // complains of a name that is not known
    if (!runs.is_measured(key)) continue;
    throw UsageError(
        fmt::format("'{}' cannot be chosen: it is a result, not a setting\ngive a key, such as optimizer.lr", key));
  }
  runs.column(selection.by);
  if (runs.is_measured(selection.by)) return;
  throw UsageError(fmt::format("settings are not chosen by '{}', which is no result\ngive a column such as valid.bpc",
                               selection.by));
}

std::string named_place(const std::string& name, const std::string& family) {
  if (name.empty()) return family;
  return family.empty() ? name : fmt::format("{} ({})", name, family);
}

std::string names_of_keys(const Selection& selection) { return listed_names(selection.over, selection.over.size()); }

}  // namespace

bool is_of_test(const std::string& column) {
  const std::vector<std::string> behind = columns_behind(column);
  return std::ranges::any_of(behind, [](const std::string& name) {
    const auto evaluation = evaluation_column(name);
    return evaluation && evaluation->split == "test";
  });
}

Selection read_selection(const Yaml& node) {
  constexpr const char* kForm =
      "choose takes {over: [KEY, …], by: COLUMN}, such as {over: optimizer.lr, by: valid.bpc}";
  if (!node.is_map()) fail_at(node, kForm);
  refuse_unknown(node, {"over", "by", "on"});
  const Yaml* over = node.find("over");
  const Yaml* by = node.find("by");
  if (over == nullptr || by == nullptr) fail_at(node, kForm);
  Selection selection{.over = {}, .by = scalar_text(*by, "by")};
  selection.over = read_texts(*over, "a key of `over`");
  if (const Yaml* on = node.find("on")) {
    for (std::string& seed : read_texts(*on, "a seed of `on`")) selection.on.insert(std::move(seed));
  }
  if (selection.over.empty() || selection.by.empty()) fail_at(node, kForm);
  if (const std::string problem = problem_of_selection(selection); !problem.empty()) fail_at(node, problem);
  return selection;
}

Selection selection_of(const std::vector<std::string>& over, const std::string& by) {
  if (over.empty() && by.empty()) return {};
  if (over.empty()) throw UsageError("--by says by what settings are chosen\nadd the keys: --choose optimizer.lr");
  if (by.empty()) throw UsageError("--choose needs a column that decides\nadd it: --by valid.bpc");
  Selection selection{.over = over, .by = by};
  if (const std::string problem = problem_of_selection(selection); !problem.empty()) throw UsageError(problem);
  return selection;
}

std::vector<SettingCandidate> candidates_of(RunTable& runs, const std::vector<std::size_t>& rows,
                                            const std::vector<std::string>& keys, const std::vector<Value>& numbers) {
  std::vector<const std::vector<Value>*> columns;
  for (const std::string& key : keys) columns.push_back(&runs.column(key));
  const std::vector<Value>& statuses = runs.column("status");
  const std::vector<Value>& reasons = runs.column_or_nothing("reason");
  std::vector<SettingCandidate> candidates;
  std::map<std::vector<Value>, std::size_t, ValueOrder> places;
  for (const std::size_t row : rows) {
    const auto [place, is_new] = places.try_emplace(values_in_row(columns, row), candidates.size());
    if (is_new) candidates.push_back({.values = place->first, .rows = {}, .numbers = {}, .lacking = {}});
    SettingCandidate& candidate = candidates[place->second];
    candidate.rows.push_back(row);
    const std::string status = to_text(statuses[row]);
    if (status == name_of(RunStatus::kDiverged) || status == name_of(RunStatus::kPruned)) candidate.is_lost = true;
    if (status != name_of(RunStatus::kDone)) continue;
    if (const std::optional<double> number = as_number(numbers[row])) {
      candidate.numbers.push_back(*number);
    } else if (to_text(reasons[row]).find(kNotFinite) != std::string::npos) {
      candidate.is_lost = true;
    } else {
      candidate.lacking.push_back(row);
    }
  }
  return candidates;
}

const SettingCandidate* best_candidate(const std::vector<SettingCandidate>& candidates, Better better) {
  const SettingCandidate* best = nullptr;
  double best_mean = 0;
  for (const SettingCandidate& candidate : candidates) {
    if (candidate.is_lost || candidate.numbers.empty()) continue;
    const double number = mean(candidate.numbers);
    const bool is_better = better == Better::kHigher ? number > best_mean : number < best_mean;
    if (best != nullptr && !is_better) continue;
    best = &candidate;
    best_mean = number;
  }
  return best;
}

SettingChoice choose_rows(RunTable& runs, const std::vector<std::size_t>& rows, const Selection& selection,
                          const std::string& over) {
  SettingChoice choice;
  if (!selection.is_asked() || rows.empty()) {
    choice.rows = rows;
    return choice;
  }
  check_selection_columns(runs, selection);
  std::vector<std::string> keys = differing_keys(runs, rows);
  std::erase_if(keys, [&](const std::string& key) {
    return key == "seed" || key == over || std::ranges::find(selection.over, key) != selection.over.end();
  });
  std::vector<const std::vector<Value>*> columns;
  for (const std::string& key : keys) columns.push_back(&runs.column_or_nothing(key));
  std::vector<const std::vector<Value>*> chosen_columns;
  for (const std::string& key : selection.over) chosen_columns.push_back(&runs.column(key));
  const std::vector<Value>& seeds = runs.column("seed");
  const auto chooses = [&](std::size_t row) { return selection.on.contains(to_text(seeds[row])); };
  RowsBySetting families;
  for (const std::size_t row : rows) families[values_in_row(columns, row)].push_back(row);
  const std::vector<Value> numbers = deciding_numbers(runs, rows, selection.by);
  const Better better =
      needed_direction(runs, rows, selection.by, "`choose`", "choose by another column: `by: valid.loss`");
  for (const auto& [values, members] : families) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < keys.size(); ++i) parts.push_back(setting_text(keys[i], values[i]));
    const std::string family = join(parts, ", ");
    std::vector<std::size_t> choosing = members;
    std::erase_if(choosing, [&](std::size_t row) { return !selection.on.empty() && !chooses(row); });
    std::vector<SettingCandidate> candidates = candidates_of(runs, choosing, selection.over, numbers);
    std::ranges::sort(candidates, [](const SettingCandidate& a, const SettingCandidate& b) {
      return ValueOrder()(a.values, b.values);
    });
    const SettingCandidate* best = best_candidate(candidates, better);
    if (best == nullptr) {
      choice.undecided.push_back(family);
      continue;
    }
    if (selection.on.empty()) {
      choice.rows.insert(choice.rows.end(), best->rows.begin(), best->rows.end());
    } else {
      std::copy_if(members.begin(), members.end(), std::back_inserter(choice.rows), [&](std::size_t row) {
        const bool is_chosen = values_in_row(chosen_columns, row) == best->values;
        return is_chosen && !chooses(row);
      });
    }
    choice.settings.push_back({.family = family,
                               .values = best->values,
                               .candidates = candidates.size(),
                               .is_at_end = lies_at_end(*best, candidates)});
  }
  std::ranges::sort(choice.rows);
  choice.open = count_open(runs, rows);
  return choice;
}

double expected_lead(std::size_t settings) {
  const boost::math::normal standard;
  const auto count = static_cast<double>(settings);
  const auto density = [&](double x) {  // of the largest, times itself
    return x * count * boost::math::pdf(standard, x) * std::pow(boost::math::cdf(standard, x), count - 1);
  };
  constexpr double kFarthest = 9;
  return boost::math::quadrature::gauss_kronrod<double, 31>::integrate(density, -kFarthest, kFarthest);
}

std::string chosen_text(const Selection& selection, const ChosenSetting& setting) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < selection.over.size(); ++i) {
    parts.push_back(setting_text(selection.over[i], setting.values[i]));
  }
  return listed_names(parts, parts.size());
}

std::vector<std::string> choice_notes(const Selection& selection, const NamedChoices& choices) {
  std::vector<std::string> notes;
  if (!selection.is_asked()) return notes;
  std::vector<std::string> order;  // of what was chosen
  std::map<std::string, std::vector<std::string>> places;
  std::vector<std::string> undecided;
  std::vector<std::string> at_end;
  std::size_t open = 0;
  bool any_choice = false;  // among several settings
  for (const auto& [name, choice] : choices) {
    for (const ChosenSetting& setting : choice.settings) {
      const std::string text = chosen_text(selection, setting);
      const std::string place = named_place(name, setting.family);
      if (!places.contains(text)) order.push_back(text);
      places[text].push_back(place);
      if (setting.is_at_end) at_end.push_back(place);
      any_choice = any_choice || setting.candidates > 1;
    }
    for (const std::string& family : choice.undecided) undecided.push_back(named_place(name, family));
    open += choice.open;
  }
  const auto named = [](const std::vector<std::string>& names, const std::string& before) {
    const bool is_only = names.size() == 1 && names.front().empty();
    return is_only ? "" : before + listed_names(names, kMaxPlaces);
  };
  std::vector<std::string> parts;
  const bool same = order.size() == 1 && places[order.front()].size() > 2 && undecided.empty();
  for (const std::string& text : order) parts.push_back(text + (same ? " everywhere" : named(places[text], " for ")));
  const std::string label = column_label(selection.by);
  if (!parts.empty() && any_choice)
    notes.push_back(fmt::format("Chosen by the best mean {}{}: {}.", label,
                                selection.on.empty() ? "" : " of seeds that are not shown", join(parts, "; ")));
  if (!parts.empty() && !any_choice) {
    notes.push_back(
        fmt::format("Nothing was chosen by {}: no two settings differ in {} alone. Keys that change with "
                    "it belong into `over`, too.",
                    label, names_of_keys(selection)));
  }
  if (!undecided.empty()) {
    notes.push_back(
        fmt::format("Nothing can be chosen{}: each setting has a run that diverged or was pruned, or none "
                    "that is done with a {}.",
                    named(undecided, " for "), label));
  }
  if (open > 0) {
    notes.push_back(fmt::format("{} to choose among {} not done: the choice may change.", counted(open, "run"),
                                open == 1 ? "is" : "are"));
  }
  if (!at_end.empty()) {
    notes.push_back(
        fmt::format("A chosen value is the least or the greatest that was tried{}: a wider range may be "
                    "better.",
                    named(at_end, ", for ")));
  }
  return notes;
}

}  // namespace xlm
