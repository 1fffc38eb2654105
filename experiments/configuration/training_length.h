// The length of training in steps, where it is given in epochs or tokens.
#pragma once

#include "core/api/interface.h"

namespace xlm {

/// Sets train.steps and train.eval_every from train.epochs, train.tokens and train.eval_every_tokens, and those to 0;
/// looks at the data folder only where one of them is given. Steps are rounded to the nearest, from 1. Throws DataError
/// for data that are not there or too short for a step.
void resolve_length(RunOptions& options);

}  // namespace xlm
