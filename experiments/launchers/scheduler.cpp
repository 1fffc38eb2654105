// Doing a sweep.
#include "experiments/launchers/scheduler.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/run_lock.h"

namespace xlm {
namespace {

bool has_ended(RunStatus status) {
  return status == RunStatus::kDone || status == RunStatus::kFailed || status == RunStatus::kDiverged;
}

/// Whether a run that is done lacks some of its evaluations.
bool lacks_evaluations(const SweepRun& run) {
  SweepRun now = run;
  look_at(now, false);
  return now.evaluations_left > 0;
}

}  // namespace

void sleep_seconds(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

Scheduler::Scheduler(const std::vector<SweepRun>& runs, const LaunchSettings& settings, WorkerHost& host)
    : settings_(settings),
      host_(host),
      places_(host.places(), nullptr),
      board_({settings.screen, settings.terminal, settings.clock}, runs),
      next_look_(settings.clock()) {
  for (const SweepRun& run : runs) {
    if (run.action == SweepAction::kRun) queue_.push_back(&run);
    if (run.action == SweepAction::kWait) leave(run);
  }
}

LaunchReport Scheduler::run() {
  for (;;) {
    take_results();
    if (settings_.should_stop && settings_.should_stop()) {
      stop_workers();
    } else {
      look_elsewhere();
      start_workers();
    }
    const bool idle = std::none_of(places_.begin(), places_.end(), [](const SweepRun* run) { return run != nullptr; });
    if (idle && (report_.interrupted || (queue_.empty() && elsewhere_.empty()))) return report_;
    board_.update();
    // Workers of other hosts can only be seen in their run folders, which nothing announces.
    settings_.sleep(settings_.poll_seconds);
  }
}

void Scheduler::take_results() {
  for (std::size_t place = 0; place < places_.size(); ++place) {
    if (places_[place] == nullptr) continue;
    const std::optional<int> code = host_.ended(place);
    if (code) take_result(*std::exchange(places_[place], nullptr), *code);
  }
}

/// A worker ended. Its journal says how its run stands; where it says nothing, how the process ended does.
void Scheduler::take_result(const SweepRun& run, int code) {
  if (has_live_worker(run.planned.paths.folder)) return leave(run);  // another one was faster
  const RunStatus status = status_of(run);
  if (status == RunStatus::kDone && code == kStopped) {
    ended(run, RunStatus::kPreempted, "done, stopped while it was evaluated");
  } else if (status == RunStatus::kDone && code != kDone && lacks_evaluations(run)) {
    const std::string how = fmt::format("done, but an evaluation of it failed: its worker ended with code {}", code);
    report_.ended[run.id()] = how;
    ended(run, RunStatus::kFailed, how);
  } else if (has_ended(status) || status == RunStatus::kPreempted) {
    ended(run, status, std::string(name_of(status)));
  } else {
    const std::string how = code > 128 ? fmt::format("its worker was killed by signal {}", code - 128)
                                       : fmt::format("its worker ended with code {}", code);
    report_.ended[run.id()] = how;
    ended(run, RunStatus::kFailed, how);
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

void Scheduler::ended(const SweepRun& run, RunStatus status, const std::string& how) {
  board_.ended(run, status, how);
  if (settings_.finished) settings_.finished();
}

void Scheduler::stop_workers() {
  if (!std::exchange(report_.interrupted, true)) board_.note("stopping: waiting for the workers to save");
  if (std::exchange(stop_sent_, true)) return;
  for (std::size_t place = 0; place < places_.size(); ++place) {
    if (places_[place] != nullptr) host_.stop(place);
  }
}

void Scheduler::start_workers() {
  for (std::size_t place = 0; place < places_.size(); ++place) {
    while (places_[place] == nullptr && !queue_.empty()) {
      const SweepRun& run = *queue_.front();
      queue_.pop_front();
      if (has_live_worker(run.planned.paths.folder)) {
        leave(run);
      } else {
        start(place, run);
      }
    }
  }
}

void Scheduler::start(std::size_t place, const SweepRun& run) {
  try {
    host_.start(place, run);
    places_[place] = &run;
    board_.runs_here(run);
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

/// Runs that other workers do: drops those that ended, takes over those whose worker is gone.
void Scheduler::look_elsewhere() {
  if (elsewhere_.empty() || settings_.clock() < next_look_) return;
  next_look_ = settings_.clock() + settings_.elsewhere_seconds;
  for (const SweepRun* run : std::exchange(elsewhere_, {})) {
    if (has_live_worker(run->planned.paths.folder)) {
      elsewhere_.push_back(run);
      continue;
    }
    const RunStatus status = status_of(*run);
    if (has_ended(status) && !(status == RunStatus::kDone && lacks_evaluations(*run))) {
      ended(*run, status, fmt::format("{} (by another worker)", name_of(status)));
    } else {
      queue_.push_back(run);
      board_.waits(*run);
    }
  }
}

}  // namespace xlm
