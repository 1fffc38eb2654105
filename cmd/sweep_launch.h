// xlm sweep on its way to a launcher: what it would ask for, submitting, starting workers, waiting.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cmd/command.h"
#include "experiments/launchers/launcher.h"
#include "experiments/sweeps/recipe.h"

namespace xlm {

struct SweepLaunchOptions {
  std::int64_t jobs = 0;                // workers at most, or runs at once; 0: what suits the launcher
  fs::path site;                        // empty: where it is looked for
  std::vector<std::string> words = {};  // behind `xlm sweep`, that name the same runs elsewhere
  bool retry = false;
  bool anyway = false;
  bool warns = true;                       // of what the runs have in common
  std::function<bool()> should_stop = {};  // besides the user
};

class SweepLaunch {
 public:
  /// Writes nothing.
  SweepLaunch(const LauncherEntry& launcher, const Recipe& recipe, const std::vector<SweepRun>& runs,
              const SweepLaunchOptions& options, const GlobalOptions& global);

  const WorkList& list() const { return request_.list; }

  /// What would be submitted; empty if workers run here.
  std::string preview();

  /// Writes the runs' folders, the list and the program, and adds workers to those that are there already. If workers
  /// run here, returns when the sweep has ended.
  void start();

  /// Prints what was submitted and how to go on from here.
  void report(const std::string& command) const;

  /// Returns how the sweep ended, if necessary once the workers have done all runs or are gone.
  LaunchReport wait();

 private:
  std::int64_t wanted_workers() const;
  std::vector<QueuedWorker> present_workers() const;

  const GlobalOptions& global_;
  const LauncherEntry& entry_;
  LaunchRequest request_;
  std::unique_ptr<Launcher> launcher_;
  std::vector<QueuedWorker> before_;
  std::int64_t added_ = 0;
  Launched launched_;
};

/// A site file for a user to complete: with what the Slurm here says of itself, or for a queue of that name. Throws
/// UsageError.
std::string site_file(const std::string& queue);

}  // namespace xlm
