// The best settings of a sweep, by validation: what a search was for.
#pragma once

#include <string>
#include <vector>

#include "experiments/sweeps/sweep_plan.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// A line for each of the best settings among `runs`: the values of `keys`, and the mean of `measure` on validation
/// over the seeds. `runs` are the runs of `planned`, in order. Empty if there is only one setting, or if the settings
/// were measured on different data.
std::string best_settings(const std::vector<SweepRun>& planned, std::vector<std::string> keys,
                          const std::vector<Run>& runs, const Quantity& measure);

}  // namespace xlm
