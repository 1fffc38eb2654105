// The length of training in steps, where it is given in epochs or tokens.
#pragma once

#include "core/api/interface.h"

namespace xlm {

/// Sets train.steps and train.eval_every from train.epochs, train.tokens and train.eval_every_tokens, and those to 0;
/// looks at the data folder only where one of them is given. Steps are rounded to the nearest, from 1. Throws DataError
/// for data that are not there or too short for a step.
void resolve_length(RunOptions& options);

/// Scored predictions of a step, on average over an epoch. Throws DataError for data that are not there.
double predictions_of_step(const RunOptions& options);

struct ExpectedSteps {
  double count = 0;       // 0: not known
  bool is_exact = false;  // otherwise it follows from costs that change, or from steps of unequal size
};

/// The steps of a run. `flops_per_token` is the model's cost before training, `is_measured` whether it changes.
ExpectedSteps expected_steps(const RunOptions& options, double flops_per_token, bool is_measured);

}  // namespace xlm
