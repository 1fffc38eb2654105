// A test over the documents of a text.
#include "results/judgement/documents.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/number_format.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

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
  if (!both.is_of_one_corpus || !std::all_of(a.begin(), a.end(), is_alike) ||
      !std::all_of(b.begin(), b.end(), is_alike)) {
    return "the runs were scored on different tokens of the text, or on different texts";
  }
  const auto scored = std::count_if(first.tokens.begin(), first.tokens.end(), [](auto count) { return count > 0; });
  if (scored >= kLeastParts) return "";
  return fmt::format("{} of the text {} scored tokens, and an interval takes {} or more", counted(scored, "part"),
                     scored == 1 ? "has" : "have", kLeastParts);
}

}  // namespace

std::optional<DocumentComparison> compare_documents(RunTable& runs, const SeedValues& a, const SeedValues& b,
                                                    const std::string& column, const fs::path& folder, double level) {
  const std::optional<EvaluationColumn> evaluation = evaluation_column(column);
  const std::optional<double> unit = evaluation ? nats_in(evaluation->name) : std::nullopt;
  if (!unit) return std::nullopt;
  std::vector<std::size_t> rows = a.rows;
  rows.insert(rows.end(), b.rows.begin(), b.rows.end());
  const LossesOfBoth both{
      .a = losses_of(a.runs, folder, evaluation->split),
      .b = losses_of(b.runs, folder, evaluation->split),
      .asked = rows.size(),
      .is_of_evaluations = std::any_of(rows.begin(), rows.end(), [&](auto row) { return row >= runs.size(); }),
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

}  // namespace xlm
