// What a sweep's runs will cost, and which finished runs in the store say how long that takes.
#pragma once

#include <vector>

#include "cmd/command.h"
#include "experiments/launchers/prediction.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// Costs of the runs in order; none, with a warning, where core cannot be opened, which must not keep a dry run from
/// answering.
std::vector<CostEstimate> estimate_costs(const std::vector<SweepRun>& runs);

/// Finished runs whose models have the type of those that are to be done, and the costs of these. Looks into the store
/// as it is, and then into the folders of a limited number of runs, newest first: those that may have the shape of one
/// to be done, and some others. Writes nothing; says nothing where there is no store, and warns of one that cannot be
/// read.
Experience experience_for(const std::vector<SweepRun>& runs, const GlobalOptions& global);

}  // namespace xlm
