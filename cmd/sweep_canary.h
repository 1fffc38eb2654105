// xlm sweep --canary: a few steps of two points before the sweep.
#pragma once

#include <vector>

#include "cmd/command.h"
#include "cmd/sweep_launch.h"

namespace xlm {

/// Does a few steps of the first run to be done and of the one that costs most, with their evaluations, as the launcher
/// would do the sweep, in a folder of runs that is removed. Throws Error if one fails. Returns kStopped if the user
/// stopped it.
ExitCode try_canary(const LauncherEntry& launcher, Recipe recipe, const std::vector<SweepRun>& runs,
                    SweepLaunchOptions options, const GlobalOptions& global);

}  // namespace xlm
