// The part of xlm compare that tests over the documents of a text instead of seeds.
#include "cmd/compare_documents.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "cmd/run_results.h"
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

/// Why the losses of these runs cannot be compared part by part; empty if they can. One of both has some.
std::string problem_of(const DocumentQuestion& question, const std::string& split, const std::vector<RunLosses>& a,
                       const std::vector<RunLosses>& b) {
  if (question.is_of_evaluations) {
    return "evaluations with other settings than their run's own keep no losses of documents";
  }
  if (a.size() < question.a.size() || b.size() < question.b.size()) {
    return fmt::format(
        "{} of {} runs kept the losses of documents\n`xlm eval RUN --split {} eval.by_document=true` adds them",
        a.size() + b.size(), question.a.size() + question.b.size(), split);
  }
  const RunLosses& first = a.front();
  const auto is_alike = [&](const RunLosses& other) { return other.has_parts_of(first); };
  if (!question.is_of_one_corpus || !std::all_of(a.begin(), a.end(), is_alike) ||
      !std::all_of(b.begin(), b.end(), is_alike)) {
    return "the runs were scored on different tokens of the text, or on different texts";
  }
  const auto scored = std::count_if(first.tokens.begin(), first.tokens.end(), [](auto count) { return count > 0; });
  if (scored >= kLeastParts) return "";
  return fmt::format("{} part{} of the text {} scored tokens, and the bootstrap takes {} or more", scored,
                     scored == 1 ? "" : "s", scored == 1 ? "has" : "have", kLeastParts);
}

}  // namespace

std::optional<DocumentComparison> compare_documents(const DocumentQuestion& question, const fs::path& runs,
                                                    double level) {
  const std::optional<EvaluationColumn> evaluation = evaluation_column(question.column);
  const std::optional<double> unit = evaluation ? nats_in(evaluation->name) : std::nullopt;
  if (!unit) return std::nullopt;
  const std::vector<RunLosses> of_a = losses_of(question.a, runs, evaluation->split);
  const std::vector<RunLosses> of_b = losses_of(question.b, runs, evaluation->split);
  if (of_a.empty() && of_b.empty()) return std::nullopt;
  DocumentComparison compared;
  compared.problem = problem_of(question, evaluation->split, of_a, of_b);
  if (!compared.problem.empty()) return compared;
  const RunLosses& first = of_a.front();
  compared.test = compare_parts(mean_sums(of_a, *unit), mean_sums(of_b, *unit), first.tokens, level);
  compared.parts = described_parts(first, compared.test->parts);
  return compared;
}

std::string document_lines(const DocumentComparison& compared, double level) {
  if (!compared.test) return "no test over documents: " + compared.problem + "\n";
  const PartComparison& test = *compared.test;
  const bool apart = test.low > 0 || test.high < 0;
  return fmt::format(
      "over documents: A − B = {}, {:g} % interval {} to {}\n"
      "p = {} by a paired bootstrap over {}\n"
      "these trained models {} on this text; whether new seeds would, only seeds tell\n",
      difference_with_digits(test.difference, 3), level * 100, difference_with_digits(test.low, 3),
      difference_with_digits(test.high, 3), with_digits(test.p, 2), compared.parts,
      apart ? "differ" : "are not told apart");
}

Json document_json(const DocumentComparison& compared) {
  Json json = Json::object();
  if (!compared.test) {
    json["problem"] = compared.problem;
    return json;
  }
  const PartComparison& test = *compared.test;
  return {{"of", compared.parts}, {"parts", test.parts}, {"draws", test.draws}, {"difference", test.difference},
          {"low", test.low},      {"high", test.high},   {"p", test.p}};
}

}  // namespace xlm
