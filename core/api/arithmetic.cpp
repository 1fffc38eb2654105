// What is known of a run's arithmetic without torch.
#include "core/api/arithmetic.h"

#include <algorithm>
#include <cmath>

namespace xlm {
namespace {

/// Windows over one row advance by `stride` and score as many; up to context − stride tokens are in front of them.
EvaluationSize windows_of_row(const EvalOptions& eval, std::int64_t predictions) {
  const std::int64_t scored = std::max<std::int64_t>(0, first_windows(eval.max_windows, eval.stride, predictions));
  const std::int64_t before = std::max<std::int64_t>(0, eval.context - eval.stride);
  const std::int64_t windows = (scored + eval.stride - 1) / eval.stride;
  const std::int64_t short_ones = std::min(windows, (before + eval.stride - 1) / eval.stride);  // with less in front
  const double context =
      static_cast<double>(eval.stride) * static_cast<double>(short_ones) * static_cast<double>(short_ones - 1) / 2 +
      static_cast<double>(windows - short_ones) * static_cast<double>(before);
  return {static_cast<double>(scored), static_cast<double>(scored) + context, eval.context};
}

}  // namespace

std::int64_t first_windows(std::int64_t max_windows, std::int64_t length, std::int64_t predictions) {
  const bool is_part = max_windows > 0 && max_windows <= predictions / length;
  return is_part ? max_windows * length : predictions;
}

EvaluationSize evaluation_size(TextScheme scheme, const EvalOptions& eval, std::int64_t block, std::int64_t tokens) {
  const auto rows = static_cast<double>(eval.batch);
  const auto of_row = std::max<std::int64_t>(0, tokens / eval.batch - 1);
  switch (scheme) {
    case TextScheme::kStreaming: {
      const double scored = rows * static_cast<double>(first_windows(eval.max_windows, block, of_row));
      return {scored, scored, block};
    }
    case TextScheme::kRotatedChunks: {
      const EvaluationSize row = windows_of_row(eval, of_row);
      return {rows * row.scored, rows * row.computed, row.block};
    }
    case TextScheme::kWindows: {  // what is read again is in the model's cost; first tokens are few
      const auto scored = static_cast<double>(first_windows(eval.max_windows, block, tokens));
      return {scored, scored, block};
    }
    case TextScheme::kRandomWindows:
      return windows_of_row(eval, tokens);
  }
  return {};
}

EvalOptions during_training(const EvalOptions& eval) {
  EvalOptions during = eval;
  if (eval.during.max_windows > 0) during.max_windows = eval.during.max_windows;
  return during;
}

std::int64_t tokens_during_training(const EvalOptions& eval, std::int64_t tokens) {
  if (eval.during.share == 0) return tokens;
  const auto part = static_cast<std::int64_t>(std::ceil(eval.during.share * static_cast<double>(tokens)));
  return std::min(tokens, std::max(part, 2 * eval.batch));
}

}  // namespace xlm
