// The best settings of a sweep, by validation: what a search was for.
#pragma once

#include <string>
#include <vector>

#include "experiments/sweeps/sweep_plan.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// A line for each of the few best settings among `runs`, which are those of `planned` in their order and differ in
/// `keys`: the mean of `measure` on validation over the seeds, and the values. Empty where there is one setting only,
/// or where settings were measured on different data, which no number compares.
std::string best_settings(const std::vector<SweepRun>& planned, std::vector<std::string> keys,
                          const std::vector<Run>& runs, const Quantity& measure);

}  // namespace xlm
