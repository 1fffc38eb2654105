// Doing a sweep.
#include "experiments/launchers/scheduler.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/stop_request.h"
#include "experiments/sweeps/listed_runs.h"
#include "results/run_folder/journal.h"

namespace xlm {

void sleep_seconds(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

Scheduler::Scheduler(const WorkList& list, const LaunchSettings& settings, RunSlots& slots)
    : list_(list),
      settings_(settings),
      slots_(slots),
      taken_(slots.count()),
      board_({settings.screen, settings.terminal, settings.clock}, list.items),
      next_look_(settings.clock()) {
  if (list.early_stopping) halving_.emplace(*list.early_stopping, list.items);
  for (const SweepRun& run : list.items) {
    own_.insert(run.id());
    if (run.action == SweepAction::kRun) queue_.push_back(&run);
    if (run.action == SweepAction::kWait) leave(run);
  }
}

bool Scheduler::is_idle() const {
  return std::all_of(taken_.begin(), taken_.end(), [](const Slot& slot) { return slot.run == nullptr; });
}

LaunchReport Scheduler::run() {
  for (;;) {
    take_results();
    if (settings_.should_stop && settings_.should_stop()) {
      stop_workers();
    } else if (!report_.interrupted) {
      look_elsewhere();
      start_workers();
    }
    const bool nothing_left = next_run() == nullptr && (!settings_.attended || elsewhere_.empty());
    if (is_idle() && (report_.interrupted || (nothing_left && !is_more_to_come()))) return report_;
    board_.update();
    // Workers of other hosts can only be seen in their run folders, which nothing announces.
    settings_.sleep(settings_.poll_seconds);
  }
}

/// Whether a run of the queue is to train further now, as far as the journals say.
bool Scheduler::may_train(const SweepRun& run) { return (!halving_ || halving_->may_train(run)) && has_source(run); }

/// Whether the model is there that the run begins from.
bool Scheduler::has_source(const SweepRun& run) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (run.source.empty()) return true;
  double& next_look = sources_[run.source];
  if (next_look == kNever) return true;
  if (settings_.clock() < next_look) return false;
  const bool ready = source_state(run) == SourceState::kReady;
  next_look = ready ? kNever : settings_.clock() + settings_.elsewhere_seconds;
  return ready;
}

/// Whether the source of a run is left for workers of another sweep, who may come at any time. `listed`: the runs on
/// their lists, which are read when they are first asked for.
bool Scheduler::leaves_source_to_others(const SweepRun& run, std::optional<std::set<std::string>>& listed) {
  if (own_.contains(run.source)) return false;
  const fs::path runs = run.planned.paths.folder.parent_path();
  if (!listed) listed = listed_runs(runs);
  if (!is_left_for_others(runs / run.source, status_of_source(run), *listed)) return false;
  if (awaited_.insert(run.source).second) {
    board_.note(fmt::format("waiting for {}, which is left for workers of another sweep", run.source));
  }
  return true;
}

/// Why nobody makes the source of a run.
std::string Scheduler::why_not_made(const SweepRun& run) const {
  if (report_.ended.contains(run.source)) return "was given up";
  if (is_stop_requested(run.planned.paths.folder.parent_path() / run.source)) return "was stopped by xlm runs stop";
  return "is not done, and nobody is at work on it";
}

/// Gives up runs of the queue whose source will not come, as far as can be known. Whether those of others will.
bool Scheduler::await_sources() {
  bool coming = false;
  std::optional<std::set<std::string>> listed;
  for (const SweepRun* run : std::exchange(queue_, {})) {
    const SourceState source = halving_ && !halving_->may_train(*run) ? SourceState::kReady : source_state(*run);
    if (source == SourceState::kLost) {
      give_up(*run, fmt::format("{}, from which it begins, is {}", run->source, status_of_source(*run)));
    } else if (source == SourceState::kWaiting && !leaves_source_to_others(*run, listed)) {
      give_up(*run, fmt::format("{}, from which it begins, {}", run->source, why_not_made(*run)));
    } else {
      queue_.push_back(run);
      coming = coming || source == SourceState::kComing || source == SourceState::kWaiting;
    }
  }
  return coming;
}

/// There is nothing that could be begun. Whether to stay all the same: other workers' runs may have come to a rung or
/// their end, or will.
bool Scheduler::is_more_to_come() {
  if (settings_.clock() < next_source_look_) return true;
  if (halving_) halving_->look();
  sources_.clear();
  const bool coming = await_sources();
  if (next_run() != nullptr) return true;
  if (coming) next_source_look_ = settings_.clock() + settings_.elsewhere_seconds;
  if (!coming) {
    leave_held_runs();
  } else if (!settings_.attended) {
    report_.interrupted = true;  // a job of a cluster does not wait: it goes back into its queue
  }
  return coming && settings_.attended;
}

/// The next of the queue: the first or, where runs are stopped early, the first of those that have come farthest. Null
/// where there is none, or the rest is held.
const SweepRun* Scheduler::next_run() {
  const SweepRun* next = nullptr;
  for (const SweepRun* run : queue_) {
    if (!may_train(*run)) continue;
    if (next == nullptr || (halving_ && halving_->rung_of(*run) > halving_->rung_of(*next))) next = run;
    if (!halving_) break;
  }
  return next;
}

/// Journals a decision about a run, whose lock is held.
void Scheduler::record_status(const SweepRun& run, RunStatus state, std::int64_t token) {
  const Json fields = {{"state", name_of(state)}, {"reason", halving_->standing_of(run)}};
  Journal(run.planned.paths.journal(), nullptr, token).append("state", fields, true);
}

/// What is left in the queue at the end is held at its rungs. Where that is for good, because nobody is at work on a
/// run that could change it, its journal says so.
void Scheduler::leave_held_runs() {
  if (!halving_ || !elsewhere_.empty()) return;
  for (const SweepRun* run : std::exchange(queue_, {})) {
    if (!halving_->is_pruned(*run)) continue;
    try {
      const RunLock lock(run->planned.paths.folder);
      if (status_of(*run) != RunStatus::kPruned) record_status(*run, RunStatus::kPruned, lock.token());
      ended(*run, RunStatus::kPruned, "pruned: " + halving_->standing_of(*run));
    } catch (const RunLockedError&) {
      // Somebody has taken it up again.
    }
  }
}

void Scheduler::take_results() {
  bool any = false;
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i].run == nullptr) continue;
    const std::optional<int> code = slots_.ended(i);
    if (!code) continue;
    const SweepRun& run = *taken_[i].run;
    longest_ = std::max(longest_, settings_.clock() - taken_[i].began);
    Slot left = std::exchange(taken_[i], {});
    left.claim.reset();  // a worker that ended before it had the lock left it to this process
    take_result(run, left.pause, *code, memory_kills() > left.memory_kills);
    any = true;
  }
  if (any && halving_) halving_->look();
}

/// A worker ended. Its journal says how its run stands; where it says nothing, how the process ended does.
void Scheduler::take_result(const SweepRun& run, std::int64_t pause, int code, bool memory_kill) {
  if (has_live_worker(run.planned.paths.folder)) return leave(run);  // another one was faster
  const RunStatus status = status_of(run);
  if (halving_) halving_->look_at(run);
  if (pause > 0 && status == RunStatus::kPreempted && halving_->has_reached(run, pause)) {
    board_.holds(run, pause);
    queue_.push_back(&run);
  } else if (status == RunStatus::kDone && code == kStopped) {
    ended(run, status, "done, stopped while it was evaluated");
  } else if (status == RunStatus::kDone && code != kDone && now(run).evaluations_left > 0) {
    const std::string how = fmt::format("done, but an evaluation of it failed: its worker ended with code {}", code);
    report_.ended[run.id()] = how;
    ended(run, RunStatus::kFailed, how);
  } else if (has_ended(status) || status == RunStatus::kPreempted) {
    ended(run, status, std::string(name_of(status)));
  } else if (code == kStopped) {
    ended(run, status, "stopped before it had begun");
  } else {
    note_lost_worker(run, end_of_worker(code, memory_kill));
  }
}

/// Whether a run is tried again whose process ended without a final record. The user may have killed it on purpose;
/// workers of a cluster are killed by others.
bool Scheduler::may_go_on(const Run& run, const AttemptEnd& end) const {
  switch (end.cause) {
    case EndCause::kError:
      return false;
    case EndCause::kMemory:
      return fewer_rows(run).has_value();
    default:
      if (settings_.attended && end.cause == EndCause::kGone) return true;  // the user has just asked for it
      if (settings_.attended && end.cause == EndCause::kKilled) return false;
      return lost_in_a_row(run) < kMaxLost;
  }
}

/// The journal, whose lock is held, gets the word that a worker did not leave. Whether the run is to be tried again:
/// those that are not have ended.
bool Scheduler::note_loss(const SweepRun& run, const Run& present, const AttemptEnd& end, std::int64_t token) {
  const bool again = may_go_on(present, end);
  const Json record = record_of_end(present, end, again);
  Journal(run.planned.paths.journal(), nullptr, token).append("state", record, true);
  const auto how = record.at("reason").get<std::string>();
  board_.note(fmt::format("{}: {}", run.id(), how));
  if (!again) give_up(run, how);
  return again;
}

void Scheduler::give_up(const SweepRun& run, const std::string& how) {
  report_.ended[run.id()] = how;
  ended(run, RunStatus::kFailed, how);
}

/// A worker of this scheduler left no word.
void Scheduler::note_lost_worker(const SweepRun& run, const AttemptEnd& end) {
  try {
    const RunLock lock(run.planned.paths.folder);
    const Run present = read_run(run.planned.paths.folder);
    // Another one has done it meanwhile, or had, and a network file system did not show it yet.
    if (has_ended(present.status)) return ended(run, present.status, std::string(name_of(present.status)));
    if (!note_loss(run, present, end, lock.token())) return;
    board_.waits(run);
    queue_.push_back(&run);
  } catch (const RunLockedError&) {
    leave(run);  // another one was faster
  } catch (const Error& error) {
    give_up(run, fmt::format("{}; {}", end.reason, error.what()));
  }
}

/// Says why the worker of a stale run is gone. Whether the run is to be tried again.
bool Scheduler::note_gone_worker(const SweepRun& run) {
  const fs::path& folder = run.planned.paths.folder;
  try {
    const RunLock lock(folder);
    const Run present = read_run(folder);
    if (present.status != RunStatus::kRunning) return true;  // another one has said it
    const RunState& last = present.history.back();
    const bool ask = !last.job.empty() && settings_.job_state != nullptr;
    return note_loss(run, present, end_of_gone_worker(last, ask ? settings_.job_state(last.job) : ""), lock.token());
  } catch (const Error&) {
    return true;  // another one was faster, or the folder is damaged, which whoever works on it says
  }
}

/// How the run stands; a folder that cannot be read any more must not end the whole sweep.
RunStatus Scheduler::status_of(const SweepRun& run) {
  try {
    return read_live_run(run.planned.paths.folder).status;
  } catch (const Error& error) {
    report_.ended[run.id()] = error.what();
    return RunStatus::kFailed;
  }
}

/// The run as it stands now.
SweepRun Scheduler::now(const SweepRun& run) const {
  SweepRun looked_at = run;
  try {
    if (list_.from_file) looked_at.evaluations = read_run(run.planned.paths.folder).wanted;
  } catch (const Error&) {
    // A damaged folder, which look_at calls so.
  }
  look_at(looked_at, false);
  return looked_at;
}

void Scheduler::ended(const SweepRun& run, RunStatus status, const std::string& how) {
  board_.ended(run, status, how);
  if (settings_.finished) settings_.finished();
}

void Scheduler::stop_workers() {
  if (!std::exchange(report_.interrupted, true)) board_.note("stopping: waiting for the workers to save");
  if (std::exchange(stop_sent_, true)) return;
  for (std::size_t slot = 0; slot < taken_.size(); ++slot) {
    if (taken_[slot].run != nullptr) slots_.stop(slot);
  }
}

void Scheduler::start_workers() {
  const std::size_t count = slots_.count();  // those beyond it are freed as their workers end
  if (count > taken_.size()) taken_.resize(count);
  for (std::size_t slot = 0; slot < count; ++slot) {
    while (taken_[slot].run == nullptr) {
      const SweepRun* next = next_run();
      if (next == nullptr) break;
      const SweepRun& run = *next;
      if (!may_take(run)) {
        queue_.erase(std::find(queue_.begin(), queue_.end(), next));
      } else if (!has_time_for(run)) {
        report_.interrupted = true;
        return;
      } else {
        queue_.erase(std::find(queue_.begin(), queue_.end(), next));
        start(slot, run);
      }
    }
  }
}

bool Scheduler::has_time_for(const SweepRun& run) const {
  if (longest_ == 0 || !settings_.enough_time) return true;
  double seconds = longest_;
  if (settings_.seconds_per_step > 0) {
    const std::int64_t pause = halving_ ? halving_->pause_of(run) : 0;
    const std::int64_t left = (pause > 0 ? pause : run.planned.options.train.steps) - now(run).checkpoint;
    seconds = std::max(seconds, settings_.seconds_per_step * static_cast<double>(left));
  }
  return settings_.enough_time(seconds);
}

/// Whether no worker has a run, it is not to be stopped, and it is still to be done.
bool Scheduler::may_take(const SweepRun& run) {
  if (has_live_worker(run.planned.paths.folder)) {
    leave(run);
    return false;
  }
  if (is_stop_requested(run.planned.paths.folder)) {
    ended(run, status_of(run), "stopped by xlm runs stop");
    return false;
  }
  SweepRun present = now(run);
  if (present.status == name_of(RunStatus::kStale)) {
    if (!note_gone_worker(run)) return false;
    present = now(run);
  }
  if (present.status == run.status) return true;  // nothing has happened since it was planned
  if (present.action == SweepAction::kRun && present.status != name_of(RunStatus::kFailed)) return true;
  if (present.action == SweepAction::kWait) {
    leave(run);
  } else {
    ended(run, status_of(run), present.status + " (by another worker)");
  }
  return false;
}

void Scheduler::start(std::size_t slot, const SweepRun& run) {
  try {
    Slot taken{.run = &run,
               .began = settings_.clock(),
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
    leave(run);  // another one was faster
  } catch (const Error& error) {
    report_.ended[run.id()] = error.what();
    ended(run, RunStatus::kFailed, error.what());
  }
}

/// Leaves a run to the worker that has it.
void Scheduler::leave(const SweepRun& run) {
  elsewhere_.push_back(&run);
  board_.runs_elsewhere(run);
}

/// Runs that other workers do: drops those that ended, takes over those whose worker is gone. Workers that share a list
/// look once, at the end: many that look often would keep a file system busy.
void Scheduler::look_elsewhere() {
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
    if (has_ended(status) && !(status == RunStatus::kDone && now(*run).evaluations_left > 0)) {
      ended(*run, status, fmt::format("{} (by another worker)", name_of(status)));
    } else {
      queue_.push_back(run);
      board_.waits(*run);
    }
  }
  if (halving_) halving_->look();  // other workers may have trained further
}

}  // namespace xlm
