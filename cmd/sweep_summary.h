// What `xlm sweep` says at the end: the state of every run, what failed, and what comes next.
#pragma once

#include <optional>
#include <vector>

#include "cmd/command.h"
#include "cmd/sweep_command.h"
#include "experiments/launchers/launcher.h"
#include "experiments/sweeps/search.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// A sweep that has ended, or was interrupted.
struct EndedSweep {
  std::vector<SweepRun> runs;
  std::optional<Search> search;
  LaunchReport report;
  bool has_tables = false;  // its file describes some
};

/// Prints it, as JSON if the user asks for that. Returns the exit code: 0 all runs are done, 1 some have failed, 75
/// stopped.
int print_summary(EndedSweep sweep, const SweepCommand& command, const GlobalOptions& global);

}  // namespace xlm
