// A search as `xlm sweep` shows it.
#pragma once

#include <string>
#include <vector>

#include "experiments/sweeps/search.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// How the trials of a search ended, and the best settings with their mean and spread over the seeds, as text.
std::string search_result(const Search& search, const std::vector<SweepRun>& runs);

/// What of a search is not planned yet, as text: "up to 36 trials follow from results". Empty if nothing is.
/// `run_flops` is the work of a run that has not begun, 0 if it is unknown.
std::string search_rest(const Search& search, const std::vector<SweepRun>& runs, double run_flops);

}  // namespace xlm
