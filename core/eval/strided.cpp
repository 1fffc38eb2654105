// Strided evaluation.
#include "core/eval/strided.h"

#include <algorithm>

#include "core/kernels/part_of_batch.h"
#include "core/runtime/device.h"

namespace xlm {

SplitLoss evaluate_strided(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                           const GoOn& go_on) {
  const OwnRows own = own_rows(settings.group, settings.rows);
  const std::int64_t rows = own.count;
  const std::int64_t row_length = source.size() / settings.rows;
  const std::int64_t start = own.begin * row_length;
  const std::int64_t all = row_length - 1;  // predictions of a row
  const std::int64_t most = settings.max_windows > 0 && settings.max_windows <= all / settings.stride
                                ? settings.max_windows * settings.stride
                                : all;
  SplitLoss result{.whole = most == all};
  if (rows == 0) return result;
  const PartOfBatch part(own.begin);
  const State state = model.initial_state(rows);
  for (std::int64_t first = 0; first < most && !result.stopped; first += settings.stride) {
    const std::int64_t scored = std::min(settings.stride, most - first);
    const std::int64_t begin = std::max<std::int64_t>(0, first - (settings.context - settings.stride));
    const std::int64_t count = first + scored - begin;
    const torch::Tensor text = source.rows(rows, start + begin, row_length, count + 1);
    const torch::Tensor tokens = text.to(settings.device);
    const ModelInput input{.tokens = tokens.narrow(1, 0, count),
                           .positions = torch::arange(begin, begin + count, torch::kLong).expand({rows, count}),
                           .boundaries = source.flag_rows(rows, start + begin, row_length, count),
                           .scored = scored};
    const PrecisionScope precision(settings.precision, settings.device);
    const ModelOutput output = model.forward(input.to(settings.device), state);
    result.loss += output.summed_loss(tokens.narrow(1, count + 1 - scored, scored)).item<double>();
    result.tokens += scored * rows;
    result.bytes += source.bytes(text.narrow(1, count + 1 - scored, scored));
    result.stopped = !go_on(result.tokens, most * rows);
  }
  return result;
}

}  // namespace xlm
