// What the numbers of a sweep say of its settings: the best by validation, and whether seeds change anything.
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

/// Whether runs of programs have the same final numbers, bit for bit, as the other seeds of their setting, in each
/// setting that has several: such a program does not seem to use its seed.
bool seeds_change_nothing(const std::vector<SweepRun>& planned, const std::vector<Run>& runs);

/// Options in which runs differ that have the same final numbers, bit for bit: they do not seem to reach the program.
std::vector<std::string> options_that_change_nothing(const std::vector<SweepRun>& planned,
                                                     const std::vector<std::string>& keys,
                                                     const std::vector<Run>& runs);

}  // namespace xlm
