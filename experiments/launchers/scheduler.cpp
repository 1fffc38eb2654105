// Does the runs of a sweep.
#include "experiments/launchers/scheduler.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/process_identity.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/stop_request.h"
#include "experiments/runs/wanted_evaluations.h"
#include "experiments/sweeps/early_stopping.h"
#include "experiments/sweeps/folder_status.h"
#include "experiments/sweeps/sweep_board.h"
#include "experiments/worker/attempt_end.h"
#include "results/run_folder/journal.h"

namespace xlm {

void sleep_seconds(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

namespace {

/// One worker on a list. Runs move from `queue_` to a slot and out. Runs of other workers stay in `elsewhere_` until
/// they end or their worker is gone. With early stopping, runs return to the queue at every rung, and the best of them
/// resume before new ones begin.
class Scheduler {
 public:
  Scheduler(const WorkList& list, const LaunchSettings& settings, RunSlots& slots)
      : list_(list),
        settings_(settings),
        slots_(slots),
        taken_(slots.count()),
        board_({settings.screen, settings.terminal, settings.clock}, list.items),
        next_look_(settings.clock()) {
    if (list.early_stopping) halving_.emplace(*list.early_stopping, list.items, !list.from_file);
    for (const SweepRun& run : list.items) {
      own_.insert(run.id());
      if (run.action == SweepAction::kRun) queue_.push_back(&run);
      if (run.action == SweepAction::kWait) leave_to_other_worker(run);
    }
  }

  LaunchReport run() {
    for (;;) {
      take_results();
      if (settings_.should_stop && settings_.should_stop()) {
        stop_workers();
      } else if (!report_.interrupted) {
        check_other_workers();
        start_workers();
      }
      const bool nothing_left = next_run() == nullptr && (!settings_.attended || elsewhere_.empty());
      if (is_idle() && (report_.interrupted || (nothing_left && !should_stay()))) return report_;
      board_.update();
      // Workers on other hosts are only visible in their run folders.
      settings_.sleep(settings_.poll_seconds);
    }
  }

 private:
  struct Slot {
    const SweepRun* run = nullptr;  // null: free
    double began = 0;
    double started = 0;              // wall_seconds
    std::int64_t pause = 0;          // the step at which it pauses; 0: none
    std::int64_t memory_kills = 0;   // of this machine, at the start
    std::unique_ptr<RunLock> claim;  // until its worker has the lock
  };

  /// Whether a queued run may train further now, according to the journals.
  bool may_train(const SweepRun& run) { return (!halving_ || halving_->may_train(run)) && has_source(run); }

  /// Whether the model that the run begins from exists.
  bool has_source(const SweepRun& run) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    if (run.source.empty()) return true;
    double& next_look = sources_[run.source];
    if (next_look == kNever) return true;
    if (settings_.clock() < next_look) return false;
    const bool ready = source_state(run) == SourceState::kReady;
    next_look = ready ? kNever : settings_.clock() + settings_.elsewhere_seconds;
    return ready;
  }

  /// The next run of the queue: the first one, or with early stopping the first of those that have come furthest.
  /// Returns null if there is none, or if the rest is held.
  const SweepRun* next_run() {
    const SweepRun* next = nullptr;
    for (const SweepRun* run : queue_) {
      if (!may_train(*run)) continue;
      if (next == nullptr || (halving_ && halving_->rung_of(*run) > halving_->rung_of(*next))) next = run;
      if (!halving_) break;
    }
    return next;
  }

  /// Whether the source of a run is left for another sweep's workers, which may come at any time. `listed` holds the
  /// runs on their lists. It is read on first use.
  bool leaves_source_to_others(const SweepRun& run, std::optional<std::set<std::string>>& listed) {
    if (own_.contains(run.source)) return false;
    const fs::path runs = run.planned.paths.folder.parent_path();
    if (!listed) listed = listed_runs(runs);
    if (!is_left_for_others(runs / run.source, status_of_source(run), *listed)) return false;
    if (awaited_.insert(run.source).second) {
      board_.note(fmt::format("waiting for {}, which another sweep has left for its workers", run.source));
    }
    return true;
  }

  /// Why no worker makes the source of a run.
  std::string why_source_is_missing(const SweepRun& run) const {
    if (report_.ended.contains(run.source)) return "was given up";
    if (is_stop_requested(run.planned.paths.folder.parent_path() / run.source)) return "was stopped by xlm runs stop";
    return "is not done, and no worker is running it";
  }

  /// Gives up queued runs whose source will not be made, as far as is known. Returns whether a source may still be
  /// made.
  bool drop_runs_without_source() {
    bool coming = false;
    std::optional<std::set<std::string>> listed;
    for (const SweepRun* run : std::exchange(queue_, {})) {
      const SourceState source = halving_ && !halving_->may_train(*run) ? SourceState::kReady : source_state(*run);
      if (source == SourceState::kLost) {
        give_up(*run,
                fmt::format("it begins from {}, whose status is {}", run->source, name_of(status_of_source(*run))));
      } else if (source == SourceState::kWaiting && !leaves_source_to_others(*run, listed)) {
        give_up(*run, fmt::format("it begins from {}, which {}", run->source, why_source_is_missing(*run)));
      } else {
        queue_.push_back(run);
        coming = coming || source == SourceState::kComing || source == SourceState::kWaiting;
      }
    }
    return coming;
  }

  /// Called if no run can begin. Returns whether to stay anyway: runs of other workers may have reached a rung or their
  /// end, or will.
  bool should_stay() {
    if (settings_.clock() < next_source_look_) return true;
    if (halving_) halving_->look();
    sources_.clear();
    const bool coming = drop_runs_without_source();
    if (next_run() != nullptr) return true;
    if (coming) next_source_look_ = settings_.clock() + settings_.elsewhere_seconds;
    if (!coming) {
      prune_held_runs();
    } else if (!settings_.attended) {
      report_.interrupted = true;  // a job of a cluster does not wait: it returns to the queue
    }
    return coming && settings_.attended;
  }

  /// Records a decision about a run in its journal. Its lock must be held.
  void record_status(const SweepRun& run, RunStatus state, std::int64_t token) {
    const Json fields = {{"state", name_of(state)}, {"reason", halving_->standing_of(run)}};
    Journal(run.planned.paths.journal(), nullptr, token).append("state", fields, true);
  }

  /// At the end, queued runs are held at their rungs. If this is final, because no worker is running a run that could
  /// change it, their journals record it.
  void prune_held_runs() {
    if (!halving_ || !elsewhere_.empty()) return;
    for (const SweepRun* run : std::exchange(queue_, {})) {
      if (!halving_->is_pruned(*run)) continue;
      try {
        const RunLock lock(run->planned.paths.folder);
        if (status_of(*run) != RunStatus::kPruned) record_status(*run, RunStatus::kPruned, lock.token());
        ended(*run, RunStatus::kPruned, "pruned: " + halving_->standing_of(*run));
      } catch (const RunLockedError&) {
        // Another worker has resumed it.
      }
    }
  }

  void take_results() {
    bool any = false;
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i].run == nullptr) continue;
      const std::optional<int> code = slots_.ended(i);
      if (!code) continue;
      longest_ = std::max(longest_, settings_.clock() - taken_[i].began);
      Slot left = std::exchange(taken_[i], {});
      left.claim.reset();  // a worker that exited before it had the lock left it to this process
      take_result(left, *code);
      any = true;
    }
    if (any && halving_) halving_->look();
  }

  /// Handles the end of a worker. The journal gives the run's status. Without a final record, the exit code does.
  void take_result(const Slot& left, int code) {
    const SweepRun& run = *left.run;
    if (has_live_worker(run.planned.paths.folder)) return leave_to_other_worker(run);  // another worker was faster
    const RunStatus status = status_of(run);
    if (halving_) halving_->look_at(run);
    if (left.pause > 0 && status == RunStatus::kPreempted && halving_->has_reached(run, left.pause)) {
      board_.holds(run, left.pause);
      queue_.push_back(&run);
    } else if (status == RunStatus::kDone && code == kStopped) {
      ended(run, status, "done, stopped during an evaluation");
    } else if (status == RunStatus::kDone && code != kDone && with_current_status(run).evaluations_left > 0) {
      const std::string how = fmt::format("done, but an evaluation failed: the worker exited with code {}", code);
      report_.ended[run.id()] = how;
      ended(run, RunStatus::kFailed, how);
    } else if (has_ended(status) || status == RunStatus::kPreempted) {
      ended(run, status, std::string(name_of(status)));
    } else if (code == kStopped) {
      ended(run, status, "stopped before it had begun");
    } else {
      handle_lost_worker(run, end_of_worker(code, memory_kills() > left.memory_kills), left.started);
    }
  }

  /// The status of a run. A damaged folder must not end the whole sweep.
  RunStatus status_of(const SweepRun& run) {
    try {
      return read_live_run(run.planned.paths.folder).status;
    } catch (const Error& error) {
      report_.ended[run.id()] = error.what();
      return RunStatus::kFailed;
    }
  }

  void ended(const SweepRun& run, RunStatus status, const std::string& how) {
    board_.ended(run, status, how);
    if (settings_.finished) settings_.finished();
  }

  void stop_workers() {
    if (!std::exchange(report_.interrupted, true)) board_.note("stopping: waiting for the workers to save");
    if (std::exchange(stop_sent_, true)) return;
    for (std::size_t slot = 0; slot < taken_.size(); ++slot) {
      if (taken_[slot].run != nullptr) slots_.stop(slot);
    }
  }

  void start_workers() {
    const std::size_t count = slots_.count();  // further slots are freed as their workers exit
    if (count > taken_.size()) taken_.resize(count);
    for (std::size_t slot = 0; slot < count; ++slot) {
      while (taken_[slot].run == nullptr) {
        const SweepRun* next = next_run();
        if (next == nullptr) break;
        const SweepRun& run = *next;
        if (!may_take(run)) {
          queue_.erase(std::ranges::find(queue_, next));
        } else if (!has_time_for(run)) {
          report_.interrupted = true;
          return;
        } else {
          queue_.erase(std::ranges::find(queue_, next));
          start(slot, run);
        }
      }
    }
  }

  void start(std::size_t slot, const SweepRun& run) {
    try {
      Slot taken{.run = &run,
                 .began = settings_.clock(),
                 .started = wall_seconds(),
                 .pause = halving_ ? halving_->pause_of(run) : 0,
                 .memory_kills = memory_kills(),
                 .claim = nullptr};
      const bool goes_on = halving_ && halving_->rung_of(run) > 0 && status_of(run) != RunStatus::kDone;
      if (!settings_.attended || goes_on) taken.claim = std::make_unique<RunLock>(run.planned.paths.folder);
      if (goes_on) record_status(run, RunStatus::kQueued, taken.claim->token());
      if (settings_.attended) taken.claim.reset();
      slots_.start(slot, {.run = &run, .pause = taken.pause, .claimed = taken.claim != nullptr});
      taken_[slot] = std::move(taken);
      board_.runs_here(run);
    } catch (const RunLockedError&) {
      leave_to_other_worker(run);  // another worker was faster
    } catch (const Error& error) {
      report_.ended[run.id()] = error.what();
      ended(run, RunStatus::kFailed, error.what());
    }
  }

  bool has_time_for(const SweepRun& run) const {
    if (longest_ == 0 || !settings_.enough_time) return true;
    double seconds = longest_;
    if (settings_.seconds_per_step > 0) {
      const std::int64_t pause = halving_ ? halving_->pause_of(run) : 0;
      const std::int64_t left =
          (pause > 0 ? pause : run.planned.options.train.steps) - with_current_status(run).checkpoint;
      seconds = std::max(seconds, settings_.seconds_per_step * static_cast<double>(left));
    }
    return settings_.enough_time(seconds);
  }

  /// Whether the run still has to be done, has no worker, and is not asked to stop.
  bool may_take(const SweepRun& run) {
    if (has_live_worker(run.planned.paths.folder)) {
      leave_to_other_worker(run);
      return false;
    }
    if (is_stop_requested(run.planned.paths.folder)) {
      ended(run, status_of(run), "stopped by xlm runs stop");
      return false;
    }
    SweepRun present = with_current_status(run);
    if (present.status == RunStatus::kStale) {
      if (!record_gone_worker(run)) return false;
      present = with_current_status(run);
    }
    if (present.status == run.status) return true;  // unchanged since it was planned
    if (present.action == SweepAction::kRun && present.status != RunStatus::kFailed) return true;
    if (present.action == SweepAction::kWait) {
      leave_to_other_worker(run);
    } else {
      ended(run, status_of(run), fmt::format("{} (by another worker)", name_of(present.status)));
    }
    return false;
  }

  /// Whether to retry a run whose process exited without a final record. The user may have killed it on purpose.
  /// Workers of a cluster are killed by the cluster.
  bool may_retry(const Run& run, const AttemptEnd& end) const {
    switch (end.cause) {
      case EndCause::kError:
        return false;
      case EndCause::kMemory:
        return fewer_rows(run, end.rows).has_value();
      default:
        if (settings_.attended && end.cause == EndCause::kGone) return true;  // the user has just asked for it
        if (settings_.attended && end.cause == EndCause::kKilled) return false;
        return lost_in_a_row(run) < kMaxLost;
    }
  }

  /// Writes the final record that a worker did not write. The lock must be held. `is_now`: it has just ended. Returns
  /// whether to retry the run. If not, it has ended.
  bool record_lost_attempt(const SweepRun& run, const Run& present, const AttemptEnd& end, std::int64_t token,
                           bool is_now) {
    const bool again = may_retry(present, end);
    Json record = record_of_end(present, end, again);
    if (is_now) record["pid"] = this_process().pid;  // so the attempt's time is known (busy_seconds)
    Journal(run.planned.paths.journal(), nullptr, token).append("state", record, true);
    const auto how = record.at("reason").get<std::string>();
    board_.note(fmt::format("{}: {}", run.id(), how));
    if (!again) give_up(run, how);
    return again;
  }

  void give_up(const SweepRun& run, const std::string& how) {
    report_.ended[run.id()] = how;
    ended(run, RunStatus::kFailed, how);
  }

  /// Handles a worker of this scheduler that exited without a final record.
  void handle_lost_worker(const SweepRun& run, const AttemptEnd& end, double started) {
    try {
      const RunLock lock(run.planned.paths.folder);
      const Run present = read_run(run.planned.paths.folder);
      // Another worker has done it; a network file system may have shown that late.
      if (has_ended(present.status)) return ended(run, present.status, std::string(name_of(present.status)));
      // A worker that found the run without its process may have said so first. An attempt is lost once.
      const RunState* last = present.history.empty() ? nullptr : &present.history.back();
      const bool is_said = last != nullptr && !last->cause.empty() && last->time >= started;
      if (!is_said && !record_lost_attempt(run, present, end, lock.token(), true)) return;
      board_.waits(run);
      queue_.push_back(&run);
    } catch (const RunLockedError&) {
      leave_to_other_worker(run);  // another worker was faster
    } catch (const Error& error) {
      give_up(run, fmt::format("{}; {}", end.reason, error.what()));
    }
  }

  /// Records why the worker of a stale run is gone. Returns whether to retry the run.
  bool record_gone_worker(const SweepRun& run) {
    const fs::path& folder = run.planned.paths.folder;
    try {
      const RunLock lock(folder);
      const Run present = read_run(folder);
      if (present.status != RunStatus::kRunning) return true;  // another worker has recorded it
      const RunState& last = present.history.back();
      const bool ask = !last.job.empty() && settings_.job_state != nullptr;
      return record_lost_attempt(run, present, end_of_gone_worker(last, ask ? settings_.job_state(last.job) : ""),
                                 lock.token(), false);
    } catch (const Error&) {
      return true;  // another worker was faster, or the folder is damaged, which the next worker reports
    }
  }

  bool is_idle() const {
    return std::ranges::all_of(taken_, [](const Slot& slot) { return slot.run == nullptr; });
  }

  /// The run with its current status.
  SweepRun with_current_status(const SweepRun& run) const {
    SweepRun looked_at = run;
    try {
      if (list_.from_file) looked_at.evaluations = evaluations_to_make(read_run(run.planned.paths.folder));
    } catch (const Error&) {
      // look_at reports a damaged folder.
    }
    look_at(looked_at, false);
    return looked_at;
  }

  /// Leaves a run to the worker that has it.
  void leave_to_other_worker(const SweepRun& run) {
    elsewhere_.push_back(&run);
    board_.runs_elsewhere(run);
  }

  /// Checks runs of other workers: drops those that ended, takes over those whose worker is gone. Workers that share a
  /// list check once, at the end: frequent checks by many would load a file system.
  void check_other_workers() {
    if (elsewhere_.empty()) return;
    const bool is_due = settings_.attended ? settings_.clock() >= next_look_ : is_idle() && next_run() == nullptr;
    if (!is_due) return;
    next_look_ = settings_.clock() + settings_.elsewhere_seconds;
    for (const SweepRun* run : std::exchange(elsewhere_, {})) {
      if (has_live_worker(run->planned.paths.folder)) {
        elsewhere_.push_back(run);
        continue;
      }
      const RunStatus status = status_of(*run);
      if (has_ended(status) && !(status == RunStatus::kDone && with_current_status(*run).evaluations_left > 0)) {
        ended(*run, status, fmt::format("{} (by another worker)", name_of(status)));
      } else {
        queue_.push_back(run);
        board_.waits(*run);
      }
    }
    if (halving_) halving_->look();  // other workers may have trained further
  }

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

}  // namespace

LaunchReport do_list(const WorkList& list, const LaunchSettings& settings, RunSlots& slots) {
  return Scheduler(list, settings, slots).run();
}

}  // namespace xlm
