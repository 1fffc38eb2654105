// Doing a sweep: which run is next and on what, runs that other workers do, results, and stopping. How a worker is
// started and stopped is the business of a WorkerHost.
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
#include "experiments/runs/run_lock.h"
#include "experiments/sweeps/early_stopping.h"
#include "experiments/sweeps/sweep_board.h"
#include "experiments/sweeps/sweep_plan.h"
#include "experiments/worker/attempt_end.h"

namespace xlm {

/// Starts workers somewhere and says how they end: all that a launcher is. A worker sits at one of a fixed number of
/// places, counted from 0.
class WorkerHost {
 public:
  virtual ~WorkerHost() = default;

  /// Workers at once, at least one. It may change as runs end and show what they need.
  virtual std::size_t places() const = 0;

  /// Starts the worker of a run at a free place; `pause`, where not 0, is the step at whose evaluation it saves and
  /// stops. Throws Error where it cannot be started.
  virtual void start(std::size_t place, const SweepRun& run, std::int64_t pause) = 0;

  /// How the worker of a taken place ended, once it has, which frees the place: an exit code, or 128 + the number of
  /// the signal that killed it. Returns at once.
  virtual std::optional<int> ended(std::size_t place) = 0;

  /// Asks the worker of a taken place to save and stop.
  virtual void stop(std::size_t place) = 0;
};

/// Sleeps for so many seconds.
void sleep_seconds(double seconds);

struct LaunchSettings {
  std::int64_t jobs = 0;            // workers at once; 0: what suits the launcher
  std::int64_t cores = 0;           // that they share; 0: all that this process may use
  std::int64_t runs_per_gpu = 0;    // where jobs is 0; 0: as many as fit, once one has shown what it needs
  bool retry = false;               // passed to workers: diverged runs too
  bool anyway = false;              // likewise: with another program or kind of device than a run began with
  std::vector<std::string> worker;  // program and first arguments; the run folder and its options follow
  std::optional<EarlyStopping> early_stopping;
  bool shared = false;  // other schedulers take runs of the same list (see Scheduler)
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

/// One sweep being done. Runs move from `queue_` to a place and out; those of other workers stay in `elsewhere_` until
/// they end or their worker goes. Where runs are stopped early they come back to the queue at every rung, and those
/// that are among the best go on before new ones begin.
///
/// A run that begins from another one's model waits in the queue until that is done.
///
/// Several may share a list of runs, each in a job of a cluster. Such a one claims a run, by its lock, before it starts
/// the worker, which takes the lock from it; looks again how a run stands before it takes it; leaves to the others what
/// they do; and tries a run again whose worker was killed. Why a worker left no word is in the run's journal.
class Scheduler {
 public:
  /// All three outlive the scheduler.
  Scheduler(const std::vector<SweepRun>& runs, const LaunchSettings& settings, WorkerHost& host);

  /// Does all runs whose action is kRun, and waits for those of kWait (taking them over when their workers go); where
  /// the list is shared it does not wait. The runs have been submitted. Returns when nothing is left to do or, after
  /// passing a stop on to the workers and waiting for them, when asked to stop. A run that fails does not stop the
  /// others.
  LaunchReport run();

 private:
  bool may_train(const SweepRun& run);
  bool has_source(const SweepRun& run);
  const SweepRun* next_run();
  bool leaves_source_to_others(const SweepRun& run, std::optional<std::set<std::string>>& listed);
  std::string why_not_made(const SweepRun& run) const;
  bool await_sources();
  bool is_more_to_come();
  void say_how_it_stands(const SweepRun& run, RunStatus state, std::int64_t token);
  void leave_held_runs();
  void take_results();
  void take_result(const SweepRun& run, std::int64_t pause, int code, bool memory_kill);
  RunStatus status_of(const SweepRun& run);
  void ended(const SweepRun& run, RunStatus status, const std::string& how);
  void stop_workers();
  void start_workers();
  void start(std::size_t place, const SweepRun& run);
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

  struct Place {
    const SweepRun* run = nullptr;  // null: free
    double began = 0;
    std::int64_t pause = 0;          // the step at which it is to pause; 0: none
    std::int64_t memory_kills = 0;   // of this machine, when it began
    std::unique_ptr<RunLock> claim;  // until its worker has the lock
  };

  const LaunchSettings& settings_;
  WorkerHost& host_;
  std::vector<Place> places_;
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
