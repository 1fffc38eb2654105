// What `xlm sweep --dry-run` says: the runs, what they cost, and what would be submitted.
#pragma once

#include <optional>
#include <vector>

#include "cmd/command.h"
#include "cmd/sweep_launch.h"
#include "experiments/launchers/launcher.h"
#include "experiments/sweeps/cost_estimate.h"
#include "experiments/sweeps/search.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// Whether a sweep still has something to do, or waits for others that do it.
bool has_work(const std::vector<SweepRun>& runs);

/// What each run costs. Empty, with a warning, if that cannot be computed; also if all runs are programs, whose costs
/// are not known.
std::vector<CostEstimate> estimate_costs(const std::vector<SweepRun>& runs, const fs::path& folder);

/// Prints it, as JSON if the user asks for that. Nothing is written.
void print_dry_run(const std::vector<SweepRun>& runs, const std::optional<Search>& search,
                   const LauncherEntry& launcher, SweepLaunch& launch, const GlobalOptions& global);

}  // namespace xlm
