// The choice between evaluation schemes, and what follows from a loss.
#include "core/eval/evaluation.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "base/error.h"
#include "core/eval/overlap.h"
#include "core/eval/streaming.h"
#include "core/eval/strided.h"

namespace xlm {

namespace {

SplitLoss evaluate(LanguageModel& model, const TokenSource& source, const SplitSettings& settings, const GoOn& go_on) {
  if (model.scheme() == LanguageModel::Scheme::kWindows) return evaluate_overlap(model, source, settings, go_on);
  if (source.size() / settings.rows < 2) {
    throw DataError(
        fmt::format("the split has {} tokens, too few for eval.batch={} rows", source.size(), settings.rows));
  }
  return model.scheme() == LanguageModel::Scheme::kStreaming ? evaluate_streaming(model, source, settings, go_on)
                                                             : evaluate_strided(model, source, settings, go_on);
}

}  // namespace

SplitLoss evaluate_split(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                         const GoOn& go_on) {
  const torch::NoGradGuard no_grad;
  const bool was_training = model.is_training();
  model.eval();
  model.reset_statistics();
  SplitLoss result = evaluate(model, source, settings, go_on);
  if (result.tokens == 0) throw DataError("the split has no document of two tokens or more: nothing can be scored");
  result.loss /= static_cast<double>(result.tokens);
  result.statistics = model.statistics();
  model.train(was_training);
  return result;
}

SplitSettings split_settings(const RunOptions& options, torch::Device device) {
  return {.rows = options.eval.batch,
          .block = options.train.block,
          .context = options.eval.context,
          .stride = options.eval.stride,
          .precision = options.train.precision,
          .device = device};
}

NamedValues loss_values(double loss, std::int64_t tokens, const Split& split, Vocabulary::Unit unit) {
  NamedValues values;
  if (unit != Vocabulary::Unit::kBpe) {
    values["bpc"] = loss / std::numbers::ln2;
  } else {
    const double nats = loss * static_cast<double>(tokens);
    values["token_perplexity"] = std::exp(loss);
    values["words"] = static_cast<double>(split.words);
    values["bytes"] = static_cast<double>(split.bytes);
    if (split.words > 0) values["word_perplexity"] = std::exp(nats / static_cast<double>(split.words));
    if (split.bytes > 0) values["bits_per_byte"] = nats / std::numbers::ln2 / static_cast<double>(split.bytes);
  }
  return values;
}

}  // namespace xlm
