// What a run cost, added up from its journal.
#pragma once

#include "results/run_folder/run_folder.h"

namespace xlm {

/// Seconds in which a worker had the run, over all its attempts. An attempt whose process was lost counts up to its
/// last checkpoint or evaluation.
double busy_seconds(const Run& run);

/// Adds to run.costs, as far as the run says enough:
///   processor_hours    hours of its threads, in all its processes, and of evaluations that were made later
///   gpu_hours          hours of its GPUs
///   evaluation_flops   FLOPs of all its evaluations
void add_costs_of_work(Run& run);

/// Seconds for each step, over all attempts of the run, with everything between the steps. An attempt whose process was
/// lost counts up to its last checkpoint or evaluation.
double seconds_of_step(const Run& run);

}  // namespace xlm
