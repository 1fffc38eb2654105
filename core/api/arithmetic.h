// What is known of a run's arithmetic without torch.
#pragma once

#include <cstdint>

#include "core/api/options.h"
#include "core/api/text_scheme.h"

namespace xlm {

/// FLOPs of a training step, relative to a forward pass: the backward pass takes twice as many as the forward pass.
inline constexpr double kTrainingPerForward = 3;

/// A budget is spent at a share of 1 less this: a sum of equal steps may end a little below it.
inline constexpr double kBudgetRounding = 1e-9;

/// An evaluation of a split of `tokens` tokens, before it is made.
struct EvaluationSize {
  double scored = 0;       // predictions
  double computed = 0;     // positions that the model reads for them, context included
  std::int64_t block = 0;  // tokens of a call, by which a position costs
};
EvaluationSize evaluation_size(TextScheme scheme, const EvalOptions& eval, std::int64_t block, std::int64_t tokens);

/// Those of `predictions` that lie in the first `max_windows` (0: in all) windows, each of which scores `length`.
std::int64_t first_windows(std::int64_t max_windows, std::int64_t length, std::int64_t predictions);

/// The options and the tokens of an evaluation while training.
EvalOptions during_training(const EvalOptions& eval);
std::int64_t tokens_during_training(const EvalOptions& eval, std::int64_t tokens);

}  // namespace xlm
