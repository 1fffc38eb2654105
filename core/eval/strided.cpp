// Strided evaluation.
#include "core/eval/strided.h"

#include <algorithm>

#include "core/device.h"
#include "core/eval/streaming.h"

namespace xlm {
namespace {

/// Flags of `count` tokens from `begin` on of every row; undefined where the data have none: [rows, count].
torch::Tensor flag_rows(const TokenSource& source, std::int64_t rows, std::int64_t begin, std::int64_t row_length,
                        std::int64_t count) {
  if (source.flags() == nullptr) return {};
  torch::Tensor flags = torch::empty({rows, count}, torch::kBool);
  for (std::int64_t row = 0; row < rows; ++row) {
    source.flags()->copy(begin + row * row_length, count, flags.data_ptr<bool>() + row * count);
  }
  return flags;
}

}  // namespace

SplitLoss evaluate_strided(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                           const GoOn& go_on) {
  const std::int64_t rows = settings.rows;
  const std::int64_t row_length = source.size() / rows;
  const State state = model.initial_state(rows);
  SplitLoss result;
  for (std::int64_t first = 0; first + 1 < row_length && !result.stopped; first += settings.stride) {
    const std::int64_t scored = std::min(settings.stride, row_length - 1 - first);
    const std::int64_t begin = std::max<std::int64_t>(0, first - (settings.context - settings.stride));
    const std::int64_t count = first + scored - begin;
    const torch::Tensor tokens = source.rows(rows, begin, row_length, count + 1).to(settings.device);
    const ModelInput input{.tokens = tokens.narrow(1, 0, count),
                           .positions = torch::arange(begin, begin + count, torch::kLong).expand({rows, count}),
                           .boundaries = flag_rows(source, rows, begin, row_length, count),
                           .scored = scored};
    ModelOutput output;
    {
      const PrecisionScope precision(settings.precision, settings.device);
      output = model.forward(input.to(settings.device), state);
    }
    result.loss += summed_loss(output.logits, tokens.narrow(1, count + 1 - scored, scored));
    result.tokens += scored * rows;
    result.stopped = !go_on(result.tokens, (row_length - 1) * rows);
  }
  return result;
}

}  // namespace xlm
