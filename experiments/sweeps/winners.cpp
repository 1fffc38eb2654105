// The winner of another sweep.
#include "experiments/sweeps/winners.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"
#include "experiments/sweeps/measure_direction.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/run_folder.h"
#include "results/store/directions.h"
#include "results/store/selection.h"
#include "results/store/shown_runs.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

[[noreturn]] void fail(const BestOf& best, const std::string& message, const std::string& advice) {
  throw UsageError(fmt::format("{}: {}\n{}", best.place, message, advice));
}

std::string conditions_in_words(const BestOf& best) {
  const std::vector<std::string> parts = mapped(read_filters(best.where), &Filter::text);
  return parts.empty() ? "" : " with " + join(parts, ", ");
}

Yaml value_as_yaml(const Value& value, const BestOf& best) {
  const std::string text = to_text(value);
  const bool is_text = std::holds_alternative<std::string>(value);
  if (is_text && text.starts_with("[")) return parse_yaml(text, best.place);  // a list
  Yaml scalar = make_scalar(text, best.place);
  scalar.quoted = is_text;
  return scalar;
}

class WinnerSearch {
 public:
  WinnerSearch(RunTable& runs, const BestOf& best, const Recipe& other) : runs_(runs), best_(best), other_(other) {}

  ChosenValue search() {
    const std::vector<Filter> conditions = conditions_of(best_, other_);
    // Other runs of the store may lack the columns that `where` names.
    if (runs_.select({conditions.back()}).empty()) return fallback_or_fail("no run");
    const std::vector<std::size_t> rows = shown_rows(runs_, conditions).rows;
    if (rows.empty()) return fallback_or_fail("no run");
    refuse_unfinished(rows);
    refuse_several_corpora(rows);
    const std::vector<SettingCandidate> candidates = candidates_among(rows);
    refuse_missing_values(candidates);
    const SettingCandidate* winner = best_candidate(candidates, find_direction(rows));
    if (winner == nullptr) return fallback_or_fail("no run that neither diverged nor was pruned");
    ChosenValue chosen{.value = value_as_yaml(winner->values.front(), best_), .runs = {}};
    for (const std::size_t row : winner->rows) chosen.runs.push_back(runs_.id(row));
    return chosen;
  }

 private:
  ChosenValue fallback_or_fail(const std::string& found) const {
    if (best_.fallback) return {.value = *best_.fallback, .runs = {}};
    fail(best_,
         fmt::format("'{}' is the best of {}, of which there is {}{}", best_.key, best_.file.filename().string(), found,
                     conditions_in_words(best_)),
         fmt::format("run it first: {}\nor give the value that is used without it: `fallback: VALUE`",
                     command_of_other(best_)));
  }

  /// A winner among some of the runs might not be the winner among all.
  void refuse_unfinished(const std::vector<std::size_t>& rows) {
    const std::set<std::string> ended{std::string(name_of(RunStatus::kDone)),
                                      std::string(name_of(RunStatus::kDiverged)),
                                      std::string(name_of(RunStatus::kPruned))};
    const std::vector<Value>& statuses = runs_.column("status");
    const auto left =
        std::ranges::count_if(rows, [&](std::size_t row) { return !ended.contains(to_text(statuses[row])); });
    if (left == 0) return;
    fail(best_,
         fmt::format("'{}' is the best of {}, of which {} of {} runs{} are not done", best_.key,
                     best_.file.filename().string(), left, rows.size(), conditions_in_words(best_)),
         fmt::format("finish it first: {}", command_of_other(best_)));
  }

  /// A number of one corpus is not better than that of another.
  void refuse_several_corpora(const std::vector<std::size_t>& rows) {
    const std::vector<std::string> corpora = corpora_of(runs_, rows, {best_.by});
    const std::set<std::string> different(corpora.begin(), corpora.end());
    if (different.size() < 2) return;
    fail(best_,
         fmt::format("'{}' is the best of {}, whose runs{} were measured on several corpora: {}", best_.key,
                     best_.file.filename().string(), conditions_in_words(best_),
                     join({different.begin(), different.end()}, ", ")),
         "say which is meant: `where: {data.name: NAME}`, or `where: {data.path: DIR}` with the whole path");
  }

  /// The values of the key in the other sweep. A condition on what its file does not set is taken as met.
  std::vector<Value> values_of_sweep() const {
    const std::vector<Filter> filters = read_filters(best_.where);
    std::vector<Value> values;
    for (const SweepPoint& point : other_.points) {
      const Yaml configuration = at_point(other_.run, point);
      const bool is_meant = std::ranges::all_of(filters, [&](const Filter& filter) {
        const Yaml* set = find_path(configuration, filter.column);
        return set == nullptr || !set->is_scalar() || filter.holds_for(to_value(set->scalar));
      });
      const Yaml* value = find_path(configuration, best_.key);
      if (is_meant && value != nullptr && value->is_scalar()) values.push_back(to_value(value->scalar));
    }
    return values;
  }

  /// Runs of a part of the sweep choose nothing. If it has none of the file's values, it was run with others.
  void refuse_missing_values(const std::vector<SettingCandidate>& candidates) const {
    std::set<std::string> missing;
    bool any = false;
    for (const Value& value : values_of_sweep()) {
      const bool found = std::ranges::any_of(
          candidates, [&](const SettingCandidate& one) { return same_value(one.values.front(), value); });
      any = any || found;
      if (!found) missing.insert(to_text(value));
    }
    if (!any || missing.empty()) return;
    fail(best_,
         fmt::format("'{}' is the best of {}, which has no run{} of its values {}", best_.key,
                     best_.file.filename().string(), conditions_in_words(best_),
                     join({missing.begin(), missing.end()}, ", ")),
         fmt::format("finish it first: {}", command_of_other(best_)));
  }

  std::vector<SettingCandidate> candidates_among(const std::vector<std::size_t>& rows) {
    std::vector<SettingCandidate> candidates = candidates_of(runs_, rows, {best_.key}, runs_.column(best_.by));
    for (const SettingCandidate& candidate : candidates) {
      if (is_missing(candidate.values.front())) {
        fail(best_, fmt::format("the run {} has no '{}'", runs_.id(candidate.rows.front()), best_.key),
             "correct `best_of`, or add `where`");
      }
      if (!candidate.lacking.empty()) {
        fail(best_, fmt::format("the run {} has no {}", runs_.id(candidate.lacking.front()), best_.by), "correct `by`");
      }
    }
    for (const SettingCandidate& candidate : candidates) refuse_mixed(candidate);
    return candidates;
  }

  void refuse_mixed(const SettingCandidate& candidate) {
    std::vector<std::string> keys = differing_keys(runs_, candidate.rows);
    std::erase(keys, "seed");
    if (keys.empty()) return;
    fail(best_,
         fmt::format("the runs of {} with {}={} differ in {}", best_.file.filename().string(), best_.key,
                     to_text(candidate.values.front()), join(keys, ", ")),
         fmt::format("say which are meant: `where: {{{}: VALUE}}`", keys.front()));
  }

  /// Which way `by` is better. Runs may be older than what the other file declares.
  Better find_direction(const std::vector<std::size_t>& rows) {
    if (const std::optional<Better> said = direction_of(runs_, rows, best_.by)) return *said;
    if (const auto in_file = direction_in(other_.run, quantity_in(best_.by))) return *in_file;
    throw UsageError(no_direction(best_.by, fmt::format("{}: best_of of '{}'", best_.place, best_.key),
                                  "compare by another column: `by: valid.loss`"));
  }

  RunTable& runs_;
  const BestOf& best_;
  const Recipe& other_;
};

}  // namespace

std::vector<Filter> conditions_of(const BestOf& best, const Recipe& other) {
  std::vector<Filter> filters = read_filters(best.where);
  filters.push_back({"experiment", Filter::Relation::kEqual, {Value(other.experiment)}});
  return filters;
}

ChosenValue choose_winner(RunTable& runs, const BestOf& best, const Recipe& other) {
  return WinnerSearch(runs, best, other).search();
}

ChooseValue choose_among(std::function<std::shared_ptr<RunTable>()> open) {
  struct Known {
    std::shared_ptr<RunTable> runs;
    std::map<std::string, ChosenValue> answers;
  };
  return [open = std::move(open), known = std::make_shared<Known>()](const BestOf& best) {
    if (!known->runs) known->runs = open();
    const std::string fallback = best.fallback ? to_text(*best.fallback) : "";
    const std::string question = fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}", best.key, best.file.string(), best.profile,
                                             best.by, to_text(best.where), fallback, best.place);
    const auto answer = known->answers.find(question);
    if (answer != known->answers.end()) return answer->second;
    return known->answers.emplace(question, choose_winner(*known->runs, best, recipe_of(configuration_of_other(best))))
        .first->second;
  };
}

}  // namespace xlm
