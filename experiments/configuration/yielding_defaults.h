// Defaults that give way to what the user wrote.
#pragma once

#include <string>

#include "base/yaml.h"
#include "core/api/interface.h"

namespace xlm {

/// Before the length of training is known: options of the optimiser that `tree` does not give and that contradict those
/// that it gives are turned off, and windows of evaluation are as long as those of training.
void yield_to_written(const Yaml& tree, RunOptions& options);

/// Once it is known: a warm-up that `tree` does not give takes at most a tenth of the steps.
void shorten_warmup(const Yaml& tree, RunOptions& options);

/// What is said of a warm-up that takes more than half of `steps` (0: not known): the highest rate that is reached.
/// Empty if there is nothing to say.
std::string warmup_note(const OptimizerOptions& optimizer, double steps);

}  // namespace xlm
