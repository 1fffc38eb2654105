// Streaming evaluation.
#include "core/eval/streaming.h"

#include <algorithm>

#include "core/kernels/part_of_batch.h"
#include "core/runtime/device.h"

namespace xlm {

SplitLoss evaluate_streaming(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                             const GoOn& go_on) {
  const std::int64_t row_length = source.size() / settings.rows;
  const OwnRows own = own_rows(settings.group, settings.rows);
  SplitLoss result;
  if (own.count == 0) return result;
  const PartOfBatch part(own.begin);
  State state = model.initial_state(own.count);
  for (std::int64_t position = 0; position + 1 < row_length && !result.stopped; position += settings.block) {
    const std::int64_t count = std::min(settings.block, row_length - 1 - position);
    const torch::Tensor text = source.rows(own.count, own.begin * row_length + position, row_length, count + 1);
    const torch::Tensor tokens = text.to(settings.device);
    ModelOutput output;
    {
      const PrecisionScope precision(settings.precision, settings.device);
      output = model.forward(tokens.narrow(1, 0, count), state);
      result.loss += output.summed_loss(tokens.narrow(1, 1, count)).item<double>();
    }
    state = std::move(output.state);
    result.tokens += count * own.count;
    result.bytes += source.bytes(text.narrow(1, 1, count));
    result.stopped = !go_on(result.tokens, (row_length - 1) * own.count);
  }
  return result;
}

}  // namespace xlm
