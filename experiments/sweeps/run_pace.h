// How long a run took for each of its steps.
#pragma once

#include "results/run_folder/run_folder.h"

namespace xlm {

/// Seconds that a run was at work, over all its attempts, for each of its steps: with all that comes between them. An
/// attempt whose process was lost counts up to its last checkpoint or evaluation.
double seconds_of_step(const Run& run);

}  // namespace xlm
