// Launchers start the workers of a sweep. A new one is a class, and a line in launchers().
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/terminal.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

struct LaunchSettings {
  std::int64_t jobs = 0;            // workers at once; 0: one for each GPU, or one
  bool retry = false;               // passed to workers: diverged runs too
  bool anyway = false;              // likewise: with another program or kind of device than a run began with
  std::vector<std::string> worker;  // program and first arguments; the run folder and its options follow
  std::function<bool()> should_stop;
  std::function<void()> finished;  // after every run that ends: results may have changed
  std::FILE* screen = nullptr;     // where progress goes; null: nowhere
  Terminal terminal;
  std::function<double()> clock = monotonic_seconds;
  double poll_seconds = 0.05;    // between looks at own workers
  double elsewhere_seconds = 2;  // between looks at runs that other workers do
};

struct LaunchReport {
  bool interrupted = false;                  // asked to stop before all was done
  std::map<std::string, std::string> ended;  // run id → how a worker ended that left no word in its journal
};

class Launcher {
 public:
  virtual ~Launcher() = default;

  /// Does all runs whose action is kRun, and waits for those of kWait (taking them over when their workers go). The
  /// runs have been submitted. Returns when nothing is left to do or, after passing a stop on to the workers and
  /// waiting for them, when asked to stop. A run that fails does not stop the others.
  virtual LaunchReport launch(const std::vector<SweepRun>& runs, const LaunchSettings& settings) = 0;
};

struct LauncherEntry {
  std::string_view name;
  std::string_view summary;
  std::unique_ptr<Launcher> (*make)();
};

const std::vector<LauncherEntry>& launchers();

/// Throws UsageError with the nearest right name.
std::unique_ptr<Launcher> make_launcher(const std::string& name);

}  // namespace xlm
