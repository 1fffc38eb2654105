// Doing the runs of a list: which is next and in what slot, runs that other workers do, results, and stopping. How a
// run's process is started and stopped is the business of RunSlots.
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

/// A run that is to be started.
struct RunStart {
  const SweepRun* run = nullptr;
  std::int64_t pause = 0;  // the step at whose evaluation it saves and stops; 0: none
  bool claimed = false;    // its process takes the run's lock over from this one
};

/// Slots of a worker, counted from 0: in each it does one run at a time.
class RunSlots {
 public:
  virtual ~RunSlots() = default;

  /// How many there are, at least one. That may change as runs end and show what they need.
  virtual std::size_t count() const = 0;

  /// Starts the process of a run in a free slot. Throws Error if it cannot be started.
  virtual void start(std::size_t slot, const RunStart& start) = 0;

  /// How the process in a taken slot ended, once it has, which frees the slot: an exit code, or 128 + the number of the
  /// signal that killed it. Returns at once.
  virtual std::optional<int> ended(std::size_t slot) = 0;

  /// Asks the process in a taken slot to save and stop.
  virtual void stop(std::size_t slot) = 0;
};

/// Sleeps for so many seconds.
void sleep_seconds(double seconds);

struct LaunchSettings {
  std::int64_t jobs = 0;            // runs at once; 0: what suits the machine
  bool retry = false;               // passed to workers: diverged runs too
  std::vector<std::string> worker;  // program of a run and first arguments; the folder and its options follow
  bool attended = true;             // a user waits for the list; otherwise several workers share it (see Scheduler)
  /// What the queue of a cluster says of a job that is gone, in Slurm's words; "" where nobody knows.
  std::function<std::string(const std::string& job)> job_state;
  std::function<bool()> should_stop;
  /// Whether there is time for one more run, which takes so many seconds: as long as the longest so far, or as its
  /// steps at `seconds_per_step`. The first is always begun: whoever stops it has it saved, and a worker that never
  /// began would never get on.
  std::function<bool(double seconds)> enough_time;
  double seconds_per_step = 0;     // of finished runs of the list; 0: not known
  std::function<void()> finished;  // after every run that ends: results may have changed
  std::FILE* screen = nullptr;     // where progress goes; null: nowhere
  Terminal terminal;
  std::function<double()> clock = monotonic_seconds;
  std::function<void(double)> sleep = sleep_seconds;
  double poll_seconds = 0.05;    // between looks at own workers
  double elsewhere_seconds = 2;  // between looks at runs that other workers do
};

struct LaunchReport {
  bool interrupted = false;                  // asked to stop before all was done, or out of time for another run
  std::map<std::string, std::string> ended;  // run id → how a worker ended that left no word in its journal
};

/// One worker on a list. Runs move from `queue_` to a slot and out; those of other workers stay in `elsewhere_` until
/// they end or their worker goes. Where runs are stopped early they come back to the queue at every rung, and those
/// that are among the best go on before new ones begin.
///
/// A run that begins from another one's model waits in the queue until that is done.
///
/// A user who waits for the list waits for runs of other workers too, and decides about runs that were killed. Several
/// workers may share a list instead, each in a job of a cluster. Such a worker claims a run, by its lock, before it
/// starts the run's process, which takes the lock over; it leaves to others what they do; and it tries a run again that
/// was killed. Why a process ended without a final record is in the run's journal.
class Scheduler {
 public:
  /// All three outlive the scheduler.
  Scheduler(const WorkList& list, const LaunchSettings& settings, RunSlots& slots);

  /// Does all runs whose action is kRun. If a user waits for the list, waits for those of kWait, and takes them over
  /// when their workers go. The runs have been submitted. Returns when nothing is left to do or, after passing a stop
  /// on to the workers and waiting for them, when asked to stop. A run that fails does not stop the others.
  LaunchReport run();

 private:
  bool may_train(const SweepRun& run);
  bool has_source(const SweepRun& run);
  const SweepRun* next_run();
  bool leaves_source_to_others(const SweepRun& run, std::optional<std::set<std::string>>& listed);
  std::string why_not_made(const SweepRun& run) const;
  bool await_sources();
  bool is_more_to_come();
  void record_status(const SweepRun& run, RunStatus state, std::int64_t token);
  void leave_held_runs();
  void take_results();
  void take_result(const SweepRun& run, std::int64_t pause, int code, bool memory_kill);
  RunStatus status_of(const SweepRun& run);
  void ended(const SweepRun& run, RunStatus status, const std::string& how);
  void stop_workers();
  void start_workers();
  void start(std::size_t slot, const SweepRun& run);
  bool has_time_for(const SweepRun& run) const;
  bool may_take(const SweepRun& run);
  bool may_go_on(const Run& run, const AttemptEnd& end) const;
  bool note_loss(const SweepRun& run, const Run& present, const AttemptEnd& end, std::int64_t token);
  void give_up(const SweepRun& run, const std::string& how);
  void note_lost_worker(const SweepRun& run, const AttemptEnd& end);
  bool note_gone_worker(const SweepRun& run);
  bool is_idle() const;
  SweepRun now(const SweepRun& run) const;
  void leave(const SweepRun& run);
  void look_elsewhere();

  struct Slot {
    const SweepRun* run = nullptr;  // null: free
    double began = 0;
    std::int64_t pause = 0;          // the step at which it is to pause; 0: none
    std::int64_t memory_kills = 0;   // of this machine, when it began
    std::unique_ptr<RunLock> claim;  // until its worker has the lock
  };

  const WorkList& list_;
  const LaunchSettings& settings_;
  RunSlots& slots_;
  std::vector<Slot> taken_;  // what is done in each slot
  std::deque<const SweepRun*> queue_;
  std::set<std::string> own_;       // ids of all runs of the sweep
  std::optional<Halving> halving_;  // where the sweep stops runs early: those held at a rung stay in the queue
  std::vector<const SweepRun*> elsewhere_;
  double next_source_look_ = 0;            // at the sources of runs, when nothing else is left
  std::map<std::string, double> sources_;  // runs that others begin from → when to look at them again; never: done
  std::set<std::string> awaited_;          // sources of which the board has said that another sweep's workers make them
  SweepBoard board_;
  double next_look_;
  bool stop_sent_ = false;
  double longest_ = 0;  // seconds of a run
  LaunchReport report_;
};

}  // namespace xlm
