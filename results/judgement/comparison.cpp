// Two settings compared.
#include "results/judgement/comparison.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/quantities/number_format.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/run_folder.h"
#include "results/store/directions.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

/// Why a setting has no number at all: " (2 diverged, 1 queued)".
std::string why_empty(const Setting& setting) {
  if (!setting.without_number.empty()) return " (" + setting.without_number_text() + ")" + setting.import_hint();
  return setting.left_out.empty() ? ": no such run" : ": " + why_all_are_hidden(setting.left_out);
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

/// Nats in the unit of a quantity; nullopt if it is no mean over tokens.
std::optional<double> nats_in(const std::string& quantity) {
  if (quantity == "loss") return 1;
  if (quantity == "bpc") return std::numbers::ln2;
  return std::nullopt;
}

/// The losses that a run kept of a split, if they are of the weights that its result is of.
std::optional<RunLosses> kept_losses(const fs::path& folder, const std::string& split) {
  if (!fs::exists(folder)) return std::nullopt;
  const Run run = read_run(folder);
  const RunEvaluation* shown = main_evaluation(run, split);
  const auto kept = run.losses.find(split);
  const bool counts = shown != nullptr && kept != run.losses.end() && kept->second.step == shown->step;
  return counts ? std::optional(kept->second) : std::nullopt;
}

std::vector<RunLosses> losses_of(const std::vector<std::string>& ids, const fs::path& runs, const std::string& split) {
  std::vector<RunLosses> losses;
  for (const std::string& id : ids) {
    if (std::optional<RunLosses> kept = kept_losses(runs / id, split)) losses.push_back(std::move(*kept));
  }
  return losses;
}

/// The mean sum of each part over several runs, divided by `unit`.
std::vector<double> mean_sums(const std::vector<RunLosses>& runs, double unit) {
  std::vector<double> sums(runs.front().sums.size());
  for (const RunLosses& run : runs) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i] += run.sums[i] / unit / static_cast<double>(runs.size());
    }
  }
  return sums;
}

std::string described_parts(const RunLosses& losses, std::int64_t parts) {
  const std::string count = in_thousands(parts);
  if (!losses.of_documents) return fmt::format("{} stretches of {} tokens", count, in_thousands(losses.each));
  return losses.each == 1 ? count + " documents" : fmt::format("{} groups of {} documents", count, losses.each);
}

/// Losses of the runs of two settings.
struct LossesOfBoth {
  std::vector<RunLosses> a;
  std::vector<RunLosses> b;
  std::size_t asked = 0;           // runs that should have kept them
  bool is_of_evaluations = false;  // a number is of an evaluation with other settings than its run's own
  bool is_of_one_corpus = true;
};

/// Why these cannot be compared part by part; empty if they can. One of both has some.
std::string why_not_by_document(const LossesOfBoth& both, const std::string& split) {
  if (both.is_of_evaluations) {
    return "evaluations with other settings than their run's own keep no losses of documents";
  }
  const std::vector<RunLosses>& a = both.a;
  const std::vector<RunLosses>& b = both.b;
  if (a.size() + b.size() < both.asked) {
    return fmt::format(
        "{} of {} runs kept the losses of documents\n`xlm eval RUN --split {} eval.by_document=true` adds them",
        a.size() + b.size(), both.asked, split);
  }
  const RunLosses& first = a.front();
  const auto is_alike = [&](const RunLosses& other) { return other.has_parts_of(first); };
  if (!both.is_of_one_corpus || !std::ranges::all_of(a, is_alike) || !std::ranges::all_of(b, is_alike)) {
    return "the runs were scored on different tokens of the text, or on different texts";
  }
  const auto scored = std::ranges::count_if(first.tokens, [](auto count) { return count > 0; });
  if (scored >= kLeastParts) return "";
  return fmt::format("{} of the text {} scored tokens, and an interval takes {} or more", counted(scored, "part"),
                     scored == 1 ? "has" : "have", kLeastParts);
}

/// Compares settings by the losses of documents that the journals below `folder` hold (eval.by_document), averaged over
/// the runs of each. The column is bpc or loss of a split; others are no sums over documents and give nullopt, as do
/// runs that kept none. Journals hold those of a run's own evaluations alone. `level` is 0 … 1.
std::optional<DocumentComparison> compare_documents(RunTable& runs, const SeedValues& a, const SeedValues& b,
                                                    const std::string& column, const fs::path& folder, double level) {
  const std::optional<EvaluationColumn> evaluation = evaluation_column(column);
  const std::optional<double> unit = evaluation ? nats_in(evaluation->name) : std::nullopt;
  if (!unit) return std::nullopt;
  std::vector<std::size_t> rows = a.rows;
  rows.insert(rows.end(), b.rows.begin(), b.rows.end());
  const LossesOfBoth both{.a = losses_of(a.runs, folder, evaluation->split),
                          .b = losses_of(b.runs, folder, evaluation->split),
                          .asked = rows.size(),
                          .is_of_evaluations = std::ranges::any_of(rows, [&](auto row) { return row >= runs.size(); }),
                          .is_of_one_corpus = corpora_of_each(runs, {rows}, column).front().size() == 1};
  if (both.a.empty() && both.b.empty()) return std::nullopt;
  DocumentComparison compared;
  compared.problem = why_not_by_document(both, evaluation->split);
  if (!compared.problem.empty()) return compared;
  const RunLosses& first = both.a.front();
  const PartComparison test = compare_parts(mean_sums(both.a, *unit), mean_sums(both.b, *unit), first.tokens, level);
  compared.parts = described_parts(first, test.parts);
  if (test.effective < static_cast<double>(kLeastParts)) {
    compared.problem = fmt::format(
        "neighbours among {} are so alike that they count as {:.0f} independent ones, and an interval takes {} or more",
        compared.parts, test.effective, kLeastParts);
  } else {
    compared.test = test;
  }
  return compared;
}

}  // namespace

Setting read_setting(RunTable& runs, const SettingQuestion& side, const ComparisonQuestion& question) {
  std::vector<std::size_t> rows = runs.select(side.filters);
  if (!side.ids.empty()) std::erase_if(rows, [&](std::size_t row) { return !side.ids.contains(runs.id(row)); });
  std::vector<std::string> named;
  if (!side.ids.empty()) named.emplace_back("run_id");
  ShownRows shown = shown_among(runs, rows, side.filters, named);
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
  if (are_per_other_token(runs, compared.a.rows, compared.b.rows, question.value)) {
    const std::string split = question.value.substr(0, question.value.find('.'));
    throw UsageError(
        fmt::format("A and B read one text in other tokens, and {} is per token\nto compare them: --value "
                    "{}.bits_per_byte",
                    question.value, split.starts_with('=') ? "test" : split));
  }
  compared.seeds = compare_seeds(compared.a.by_group, compared.b.by_group);
  check_tested(compared);
  if (origin_of(runs, question.value) != NumberOrigin::kMeasured) make_exact(compared.seeds.difference);
  compared.test = test_limits(compared.seeds.difference, Limits::within(0), question.level);
  compared.ignores_seeds = !compared.seeds.difference.is_exact() && question.over == "seed" &&
                           (ignores_seeds(runs, compared.a) || ignores_seeds(runs, compared.b));
  compared.are_the_same = question.over == "seed" && have_same_numbers(runs, compared.a, compared.b);
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
  compared.unfrozen = notes_on_runs(runs, both, {question.value});
  return compared;
}

}  // namespace xlm
