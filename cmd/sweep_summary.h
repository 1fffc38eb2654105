// What `xlm sweep` says at the end: the state of every run, what failed, and what comes next.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "cmd/command.h"
#include "experiments/launchers/launcher.h"
#include "experiments/sweeps/search.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

struct SweepCommand {
  fs::path file;
  std::vector<std::string> overrides;
  std::string profile;
  std::string launcher = "local";
  std::vector<std::string> only;  // runs, by their ids
  std::int64_t jobs = 0;
  bool dry_run = false;
  bool check = false;
  bool retry = false;
  bool anyway = false;
  bool shuffle = false;
  bool wait = false;
  bool canary = false;
  std::vector<std::string> canary_with;   // what makes its runs short, instead of ten steps
  std::optional<std::string> print_site;  // the queue's name; "": that of this machine
  fs::path site;
  fs::path trusted;  // folder of runs of others
};

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
