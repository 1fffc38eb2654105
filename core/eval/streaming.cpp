// Streaming evaluation.
#include "core/eval/streaming.h"

#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "base/error.h"
#include "core/device.h"

namespace xlm {

StreamingResult evaluate_streaming(LanguageModel& model, const TokenSource& source, const StreamingEvaluation& settings,
                                   const std::function<bool(std::int64_t, std::int64_t)>& go_on) {
  const torch::NoGradGuard no_grad;
  const std::int64_t row_length = source.size() / settings.rows;
  if (row_length < 2) {
    throw DataError(
        fmt::format("the split has {} tokens, too few for eval.batch={} rows", source.size(), settings.rows));
  }
  const bool was_training = model.is_training();
  model.eval();
  model.reset_statistics();
  StreamingResult result;
  State state = model.initial_state(settings.rows);
  double total = 0;
  for (std::int64_t position = 0; position + 1 < row_length && !result.stopped; position += settings.block) {
    const std::int64_t count = std::min(settings.block, row_length - 1 - position);
    const torch::Tensor tokens = source.rows(settings.rows, position, row_length, count + 1).to(settings.device);
    ModelOutput output;
    {
      const PrecisionScope precision(settings.precision, settings.device);
      output = model.forward(tokens.narrow(1, 0, count), state);
    }
    state = std::move(output.state);
    if (output.logits.scalar_type() != torch::kDouble) output.logits = output.logits.to(torch::kFloat);
    const torch::Tensor loss =
        torch::nn::functional::cross_entropy(output.logits.flatten(0, 1), tokens.narrow(1, 1, count).flatten(),
                                             torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum));
    total += loss.item<double>();
    result.tokens += count * settings.rows;
    result.stopped = !go_on(result.tokens, (row_length - 1) * settings.rows);
  }
  result.loss = total / static_cast<double>(result.tokens);
  result.statistics = model.statistics();
  model.train(was_training);
  return result;
}

NamedValues loss_values(double loss, std::int64_t tokens, const Split& split, Vocabulary::Unit unit) {
  NamedValues values{{"bpc", loss / std::numbers::ln2}};
  if (unit == Vocabulary::Unit::kBpe) {
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
