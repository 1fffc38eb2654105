// The cost of a sweep's runs, and the finished runs in the store from which their time is estimated.
#pragma once

#include <vector>

#include "cmd/command.h"
#include "experiments/launchers/prediction.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// Costs of the runs, in order. Empty, with a warning, if core cannot be opened: a dry run must work without it.
std::vector<CostEstimate> estimate_costs(const std::vector<SweepRun>& runs);

/// Finished runs whose models have the type of a run to do, and the costs of the runs to do. Reads the store without a
/// sync, then the folders of a limited number of runs, newest first: those that may have the shape of a run to do, and
/// some others. Writes nothing. Empty if there is no store; warns if the store cannot be read.
Experience experience_for(const std::vector<SweepRun>& runs, const GlobalOptions& global);

}  // namespace xlm
