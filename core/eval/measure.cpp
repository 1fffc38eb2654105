// The values that are reported for a split.
#include "core/eval/measure.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "base/progress.h"
#include "base/random.h"
#include "core/eval/trace.h"
#include "core/runtime/random_streams.h"

namespace xlm {
namespace {

/// Losses are divided by the bytes of the scored symbols, and by the words in that share of the split's bytes. Neither
/// contains the first token of a document or row, which is not scored. The words of a part of the split are not known
/// and not reported.
NamedValues loss_values(const SplitLoss& result, const MeasuredText& text) {
  NamedValues values;
  const double nats = result.loss * static_cast<double>(result.tokens);
  const bool pairs = text.vocabulary.unit == Vocabulary::Unit::kBpe;
  const auto bytes = static_cast<double>(result.bytes);
  if (pairs) {
    values["token_perplexity"] = std::exp(result.loss);
  } else {
    values["bpc"] = result.loss / std::numbers::ln2;
  }
  if (pairs && result.whole && text.source.size() == text.split.tokens.size() && text.split.bytes > 0) {
    const double words = static_cast<double>(text.split.words) * bytes / static_cast<double>(text.split.bytes);
    values["words"] = words;
    values["bytes"] = bytes;
    if (words > 0) values["word_perplexity"] = std::exp(nats / words);
  }
  // The bytes of an unknown character are not known.
  if (bytes > 0 && text.split.unknown == 0) values["bits_per_byte"] = nats / std::numbers::ln2 / bytes;
  if (result.loss > std::log(static_cast<double>(text.vocabulary.size()))) values["worse_than_guessing"] = 1;
  return values;
}

/// FLOPs of the forward passes, as the model counts them after it has read the split. Costs of models that read
/// windows hold the tokens that are read again. With a context, a position counts as in windows of that length.
double evaluation_flops(const LanguageModel& model, const SplitLoss& result, const SplitSettings& settings) {
  const NamedValues costs = model.costs(result.computed > 0 ? settings.context : settings.block);
  const auto per_token = costs.find("flops_per_token");
  if (per_token == costs.end()) return 0;
  return per_token->second * static_cast<double>(result.computed > 0 ? result.computed : result.tokens);
}

}  // namespace

std::optional<Evaluation> measure(LanguageModel& model, const MeasuredText& text, const SplitSettings& settings,
                                  std::int64_t seed, Traced traced, const ProgressCallback& progress) {
  Evaluation evaluation;
  evaluation.split = text.name;
  const auto seed_draws = [&] { torch::manual_seed(random_bits(static_cast<std::uint64_t>(seed), kEvaluation, 0)); };
  if (traced == Traced::kYes) {
    seed_draws();
    evaluation.trace = trace_tokens(model, text.source, text.vocabulary, settings);
  }
  const double start = monotonic_seconds();
  seed_draws();
  const SplitLoss result = evaluate_split(model, text.source, settings, progress);
  if (result.stopped) return std::nullopt;
  evaluation.tokens = result.tokens;
  evaluation.loss = result.loss;
  evaluation.seconds = monotonic_seconds() - start;
  evaluation.flops = evaluation_flops(model, result, settings);
  evaluation.values = result.statistics;
  evaluation.values.merge(loss_values(result, text));
  evaluation.parts = result.parts;
  return evaluation;
}

std::vector<std::string> evaluation_warnings(const Evaluation& evaluation, const EvalOptions& options,
                                             std::int64_t symbols) {
  constexpr double kMuch = 0.05;
  std::vector<std::string> warnings;
  if (evaluation.values.contains("worse_than_guessing")) {
    warnings.push_back(
        fmt::format("the loss on {} ({:.4f}) is above that of guessing all {} symbols alike ({:.4f}): the model "
                    "has learnt nothing, or has lost what it learnt",
                    evaluation.split, evaluation.loss, symbols, std::log(static_cast<double>(symbols))));
  }
  const auto left_out = evaluation.values.find("left_out_share");
  if (left_out != evaluation.values.end() && left_out->second > kMuch && options.stride >= options.context) {
    warnings.push_back(
        fmt::format("{:.0f} % of the predictions on {} are not scored, because their patches have no place: give more "
                    "model.places, or an eval.stride below eval.context",
                    100 * left_out->second, evaluation.split));
  }
  return warnings;
}

}  // namespace xlm
