// Does the runs of a list: chooses the next run and its slot, follows runs of other workers, takes results, stops.
// RunSlots starts and stops the processes of runs.
#pragma once

#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/terminal.h"
#include "experiments/launchers/work_list.h"
#include "experiments/runs/run_lock.h"
#include "experiments/sweeps/early_stopping.h"
#include "experiments/sweeps/sweep_board.h"
#include "experiments/sweeps/sweep_plan.h"
#include "experiments/worker/attempt_end.h"

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
  bool attended = true;             // a user waits for the list; otherwise several workers share it (see Scheduler)
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

/// One worker on a list. Runs move from `queue_` to a slot and out. Runs of other workers stay in `elsewhere_` until
/// they end or their worker is gone. With early stopping, runs return to the queue at every rung, and the best of them
/// resume before new ones begin.
///
/// A run that begins from another run's model waits in the queue until that is done.
///
/// If a user waits for the list, the worker also waits for runs of other workers, and the user decides about killed
/// runs. Otherwise several workers share the list, each in a job of a cluster. Such a worker takes a run's lock before
/// it starts the run's process, which takes the lock over. It leaves other workers' runs to them, and retries killed
/// runs. The run's journal records why a process exited without a final record.
class Scheduler {
 public:
  /// All three arguments outlive the scheduler.
  Scheduler(const WorkList& list, const LaunchSettings& settings, RunSlots& slots);

  /// Does all runs whose action is kRun. They must be submitted. If a user waits for the list, also waits for those of
  /// kWait, and takes them over if their workers are gone. Returns when nothing is left to do. If asked to stop, stops
  /// the workers and waits for them first. A failed run does not stop the others.
  LaunchReport run();

 private:
  struct Slot {
    const SweepRun* run = nullptr;  // null: free
    double began = 0;
    double started = 0;              // wall_seconds
    std::int64_t pause = 0;          // the step at which it pauses; 0: none
    std::int64_t memory_kills = 0;   // of this machine, at the start
    std::unique_ptr<RunLock> claim;  // until its worker has the lock
  };

  bool may_train(const SweepRun& run);
  bool has_source(const SweepRun& run);
  const SweepRun* next_run();
  bool leaves_source_to_others(const SweepRun& run, std::optional<std::set<std::string>>& listed);
  std::string why_source_is_missing(const SweepRun& run) const;
  bool drop_runs_without_source();
  bool should_stay();
  void record_status(const SweepRun& run, RunStatus state, std::int64_t token);
  void prune_held_runs();
  void take_results();
  void take_result(const Slot& left, int code);
  RunStatus status_of(const SweepRun& run);
  void ended(const SweepRun& run, RunStatus status, const std::string& how);
  void stop_workers();
  void start_workers();
  void start(std::size_t slot, const SweepRun& run);
  bool has_time_for(const SweepRun& run) const;
  bool may_take(const SweepRun& run);
  bool may_retry(const Run& run, const AttemptEnd& end) const;
  bool record_lost_attempt(const SweepRun& run, const Run& present, const AttemptEnd& end, std::int64_t token,
                           bool is_now);
  void give_up(const SweepRun& run, const std::string& how);
  void handle_lost_worker(const SweepRun& run, const AttemptEnd& end, double started);
  bool record_gone_worker(const SweepRun& run);
  bool is_idle() const;
  SweepRun with_current_status(const SweepRun& run) const;
  void leave_to_other_worker(const SweepRun& run);
  void check_other_workers();

  const WorkList& list_;
  const LaunchSettings& settings_;
  RunSlots& slots_;
  std::vector<Slot> taken_;  // the run in each slot
  std::deque<const SweepRun*> queue_;
  std::set<std::string> own_;       // ids of all runs of the sweep
  std::optional<Halving> halving_;  // set if the sweep stops runs early; held runs stay in the queue
  std::vector<const SweepRun*> elsewhere_;
  double next_source_look_ = 0;            // when to check the sources of runs, if nothing else is left
  std::map<std::string, double> sources_;  // runs that others begin from → when to check them again; never: done
  std::set<std::string> awaited_;          // sources that the board has reported as another sweep's
  SweepBoard board_;
  double next_look_;
  bool stop_sent_ = false;
  double longest_ = 0;  // seconds of a run
  LaunchReport report_;
};

}  // namespace xlm
