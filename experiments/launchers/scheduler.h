// Does the runs of a list: chooses the next run and its slot, follows runs of other workers, takes results, stops.
// RunSlots starts and stops the processes of runs.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/terminal.h"
#include "experiments/launchers/work_list.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// A run to start.
struct RunStart {
  const SweepRun* run = nullptr;
  std::int64_t pause = 0;  // the step after whose evaluation it saves and stops; 0: none
  bool claimed = false;    // its process takes the run's lock over from this one
};

/// Slots of a worker, counted from 0. Each holds one run at a time.
class RunSlots {
 public:
  virtual ~RunSlots() = default;

  /// The number of slots, at least one. It may change as runs show what they need.
  virtual std::size_t count() const = 0;

  /// Starts the process of a run in a free slot. Throws Error if it cannot be started.
  virtual void start(std::size_t slot, const RunStart& start) = 0;

  /// Frees a slot whose process has ended, and returns its exit code, or 128 + the number of the signal that killed it.
  /// Returns nullopt if the process still runs. Does not wait.
  virtual std::optional<int> ended(std::size_t slot) = 0;

  /// Asks the process in a taken slot to save and stop.
  virtual void stop(std::size_t slot) = 0;
};

/// Sleeps for so many seconds.
void sleep_seconds(double seconds);

struct LaunchSettings {
  std::int64_t jobs = 0;            // parallel runs; 0: as many as suit the machine
  bool retry = false;               // passed to workers: also retry diverged runs
  std::vector<std::string> worker;  // program of a run and its first arguments; the folder and its options follow
  bool attended = true;             // a user waits for the list; otherwise several workers share it (see do_list)
  /// What a cluster's queue reports about a job that is gone, in Slurm's words; "" if unknown.
  std::function<std::string(const std::string& job)> job_state;
  std::function<bool()> should_stop;
  /// Whether there is time for one more run that takes so many seconds: as long as the longest so far, or its steps at
  /// `seconds_per_step`. The first run always begins. It saves if it is stopped, and a worker that never began would
  /// never advance.
  std::function<bool(double seconds)> enough_time;
  double seconds_per_step = 0;     // of finished runs of the list; 0: unknown
  std::function<void()> finished;  // called after every run that ends: results may have changed
  std::FILE* screen = nullptr;     // for progress; null: none
  Terminal terminal;
  std::function<double()> clock = monotonic_seconds;
  std::function<void(double)> sleep = sleep_seconds;
  double poll_seconds = 0.05;    // between checks of its workers
  double elsewhere_seconds = 2;  // between checks of runs that other workers do
};

struct LaunchReport {
  bool interrupted = false;                  // asked to stop before all was done, or no time for another run
  std::map<std::string, std::string> ended;  // run id → how a worker ended without a final record
};

/// Does all runs of a list whose action is kRun, as one worker on it. They must be submitted. Returns when nothing is
/// left to do. If asked to stop, stops the workers and waits for them first. A failed run does not stop the others. A
/// run that begins from another run's model waits until that is done.
///
/// If a user waits for the list, also waits for runs of kWait, which other workers do, and takes them over if their
/// workers are gone; the user decides about killed runs. Otherwise several workers share the list, each in a job of a
/// cluster. Such a worker takes a run's lock before it starts the run's process, which takes the lock over. It leaves
/// other workers' runs to them, and retries killed runs. The run's journal records why a process exited without a final
/// record.
LaunchReport do_list(const WorkList& list, const LaunchSettings& settings, RunSlots& slots);

}  // namespace xlm
