// Two settings compared.
#include "results/judgement/comparison.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "results/store/directions.h"
#include "results/store/shown_runs.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

/// Why a setting has no number at all: " (2 diverged, 1 queued)".
std::string why_empty(const Setting& setting) {
  if (!setting.without_number.empty()) return " (" + setting.without_number_text() + ")";
  return setting.left_out.empty() ? ": no such run" : ": its runs are marked as bad";
}

Verdict verdict_on_difference(Decision decision) {
  return decision == Decision::kOutside ? Verdict::kDiffers : Verdict::kUndecided;
}

void check_apart(const Setting& a, const Setting& b) {
  std::vector<std::size_t> shared;
  std::set_intersection(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(), std::back_inserter(shared));
  if (shared.empty()) return;
  throw UsageError(
      fmt::format("{} of the runs of '{}' {} of '{}' too: there is nothing to compare\n"
                  "name two settings, such as model.span=64 and model.span=256",
                  shared.size() == a.rows.size() ? "all" : std::to_string(shared.size()), a.name,
                  shared.size() == 1 ? "is" : "are", b.name));
}

/// A setting whose seeds were measured on several corpora has no mean.
void check_mixed(RunTable& runs, const Comparison& compared) {
  if (compared.question.over != "seed") return;
  for (const Setting* side : {&compared.a, &compared.b}) {
    const std::set<std::string> corpora = corpora_of_each(runs, {side->rows}, compared.question.value).front();
    if (corpora.size() < 2) continue;
    throw DataError(
        fmt::format("{} of '{}' was measured on {}: a mean over them would say nothing\n"
                    "compare on each alone: --where data.name=NAME (data.fingerprint if names are equal, "
                    "eval.max_windows for parts)",
                    compared.question.value, side->name, listed_names({corpora.begin(), corpora.end()}, 4)));
  }
}

void check_tested(const Comparison& compared) {
  const bool over_documents = compared.documents && compared.documents->test;
  const Estimate& difference = compared.seeds.difference;
  if (compared.seeds.is_paired || difference.has_error() || difference.seeds > 1 || over_documents) return;
  const std::string& over = compared.question.over;
  throw DataError(
      fmt::format("'{}' and '{}' have no {} in common, and one of them has a single {}: nothing can be tested\n"
                  "train both with the same {}s, or several of each, or name another column with --over",
                  compared.a.name, compared.b.name, over, over, over));
}

}  // namespace

Setting read_setting(RunTable& runs, const SettingQuestion& side, const ComparisonQuestion& question) {
  std::vector<std::size_t> rows = runs.select(side.filters);
  if (!side.ids.empty()) std::erase_if(rows, [&](std::size_t row) { return !side.ids.contains(runs.id(row)); });
  ShownRows shown = without_bad(runs, rows, side.filters);
  SettingChoice choice = choose_rows(runs, shown.rows, question.choose, question.over);
  if (choice.rows.empty() && !choice.undecided.empty()) {
    throw DataError(
        fmt::format("no setting of '{}' can be chosen: each has a run that diverged or was pruned, or none "
                    "that is done with a {}\nsee `xlm runs ls --where {}`",
                    side.name, question.choose.by, side.name));
  }
  Setting setting{seed_values(runs, choice.rows, question.value, question.over), side.name};
  setting.choice = std::move(choice);
  setting.left_out = std::move(shown.left_out);
  if (!setting.runs.empty()) return setting;
  throw DataError(fmt::format("no run of '{}' has {}{}\nsee `xlm runs ls --where {}`", side.name, question.value,
                              why_empty(setting), side.name));
}

Comparison compare_settings(RunTable& runs, Setting a, Setting b, const ComparisonQuestion& question,
                            const fs::path& folder) {
  check_apart(a, b);
  Comparison compared{.question = question, .a = std::move(a), .b = std::move(b)};
  std::vector<std::size_t> both = compared.a.rows;
  both.insert(both.end(), compared.b.rows.begin(), compared.b.rows.end());
  compared.documents = compare_documents(runs, compared.a, compared.b, question.value, folder, question.level);
  compared.seeds = compare_seeds(compared.a.by_group, compared.b.by_group);
  check_tested(compared);
  if (origin_of(runs, question.value) != NumberOrigin::kMeasured) make_exact(compared.seeds.difference);
  compared.test = test_limits(compared.seeds.difference, Limits::within(0), question.level);
  compared.ignores_seeds = !compared.seeds.difference.is_exact() && question.over == "seed" &&
                           (ignores_seeds(runs, compared.a) || ignores_seeds(runs, compared.b));
  compared.verdict = verdict_on_difference(compared.test.decision);
  if (const auto better = direction_of(runs, both, question.value); better && compared.diverged() > 0) {
    const SeedComparison worst = compare_with_worst(compared.a, compared.b, *better == Better::kLower ? 1 : -1);
    compared.worst_case =
        verdict_on_difference(test_limits(worst.difference, Limits::within(0), question.level).decision);
  }
  check_mixed(runs, compared);
  compared.is_of_one_corpus = have_same_corpora(runs, compared.a.rows, compared.b.rows, question.value,
                                                compared.seeds.is_paired ? question.over : "");
  compared.differ_in = keys_between(runs, compared.a.rows, compared.b.rows, question.over);
  compared.budgets = budgets_of(runs, both);
  compared.unfrozen = notes_on_runs(runs, both);
  return compared;
}

}  // namespace xlm
