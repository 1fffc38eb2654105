// How long a run took for each step.
#pragma once

#include "results/run_folder/run_folder.h"

namespace xlm {

/// Seconds for each step, over all attempts of the run, with everything between the steps. An attempt whose process was
/// lost counts up to its last checkpoint or evaluation.
double seconds_of_step(const Run& run);

}  // namespace xlm
