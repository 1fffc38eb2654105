// Looking on while workers that others have started do a sweep.
#include "experiments/launchers/sweep_watch.h"

#include <algorithm>
#include <utility>

#include <spdlog/spdlog.h>

#include "base/error.h"
#include "experiments/runs/stop_request.h"

namespace xlm {

SweepWatch::SweepWatch(const std::vector<SweepRun>& runs, const WatchSettings& settings)
    : settings_(settings),
      board_({settings.screen, settings.terminal, settings.clock}, runs),
      next_look_(settings.clock()),
      next_question_(settings.clock() + settings.queue_seconds),
      interval_(settings.queue_seconds) {
  for (const SweepRun& run : runs) {
    if (run.action == SweepAction::kRun || run.action == SweepAction::kWait) open_.push_back(&run);
  }
}

LaunchReport SweepWatch::run() {
  LaunchReport report;
  for (;;) {
    if (settings_.clock() >= next_look_) look_at_runs();
    if (open_.empty()) return report;
    if (settings_.clock() >= next_question_ && !look_at_queue()) return report;
    if (settings_.should_stop && settings_.should_stop()) {
      report.interrupted = true;
      return report;
    }
    board_.update();
    settings_.sleep(settings_.poll_seconds);
  }
}

void SweepWatch::look_at_runs() {
  next_look_ = settings_.clock() + settings_.look_seconds;
  working_ = 0;
  const std::size_t before = open_.size();
  for (const SweepRun* run : std::exchange(open_, {})) {
    SweepRun now = *run;
    look_at(now, false);
    const bool failed = now.status == name_of(RunStatus::kFailed);
    if (now.action == SweepAction::kSkip || now.action == SweepAction::kDiverged || failed) {
      const RunStatus status = failed                                 ? RunStatus::kFailed
                               : now.action == SweepAction::kDiverged ? RunStatus::kDiverged
                                                                      : RunStatus::kDone;
      board_.ended(*run, status, now.status);
      continue;
    }
    if (now.action == SweepAction::kRun && is_stop_requested(run->planned.paths.folder)) {
      board_.ended(*run, RunStatus::kPreempted, "stopped by xlm runs stop");
      continue;
    }
    open_.push_back(run);
    if (now.action == SweepAction::kWait) {
      ++working_;
      board_.runs_here(*run);
    } else {
      board_.waits(*run);
    }
  }
  if (open_.size() < before && settings_.finished) settings_.finished();
}

/// False where no worker is left. A queue that does not answer for once is asked again later.
bool SweepWatch::look_at_queue() {
  if (!settings_.workers) return true;
  std::string answer;
  bool some = working_ > 0;
  try {
    const std::optional<std::vector<QueuedWorker>> workers = settings_.workers();
    if (!workers) some = true;
    for (const QueuedWorker& worker : workers.value_or(std::vector<QueuedWorker>())) {
      some = true;
      answer += worker.id + worker.state;
    }
  } catch (const Error& error) {
    spdlog::warn("{}", error.what());
    some = true;
  }
  interval_ = answer == last_answer_ ? std::min(2 * interval_, settings_.queue_most) : settings_.queue_seconds;
  last_answer_ = answer;
  next_question_ = settings_.clock() + interval_;
  if (some) return true;
  look_at_runs();  // the last worker may have finished since the last look
  return open_.empty();
}

}  // namespace xlm
