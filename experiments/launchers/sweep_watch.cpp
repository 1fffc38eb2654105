// Watches a sweep that other workers do.
#include "experiments/launchers/sweep_watch.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/stop_request.h"

namespace xlm {

namespace {

/// Where a run's worker is: its host, and its job if it has one.
std::string worker_text(const ProcessIdentity& holder) {
  if (holder.host.empty()) return "";
  const std::string job = holder.job.substr(holder.job.find(':') + 1);  // without the cluster
  return job.empty() ? holder.host : holder.host + " " + job;
}

/// The board's word for a run without a worker.
std::string waiting_word(const SweepRun& run) {
  const bool has_begun = run.status == RunStatus::kStale || run.status == RunStatus::kPreempted;
  return std::string(has_begun || !run.status.recorded ? name_of(run.status) : "waits");
}

std::string listed(const std::map<std::string, std::size_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [name, count] : counts) {
    parts.push_back(counts.size() == 1 ? name : fmt::format("{} ({})", name, count));
  }
  return join(parts, ", ");
}

}  // namespace

std::string workers_line(const std::vector<QueuedWorker>& workers) {
  std::map<std::string, std::size_t> hosts;
  std::map<std::string, std::size_t> reasons;
  std::size_t running = 0;
  std::size_t waiting = 0;
  for (const QueuedWorker& worker : workers) {
    ++(worker.waits ? waiting : running);
    if (worker.waits) {
      ++reasons[worker.reason.empty() ? "no reason given" : worker.reason];
    } else {
      ++hosts[worker.host.empty() ? worker.state : worker.host];
    }
  }
  std::string text;
  if (running > 0) {
    text = fmt::format("{} run{} on {}", counted(running, "worker"), running == 1 ? "s" : "", listed(hosts));
  }
  if (waiting > 0) {
    const std::string who = running > 0 ? fmt::format(", {}", waiting) : counted(waiting, "worker");
    text += fmt::format("{} wait{}: {}", who, waiting == 1 ? "s" : "", listed(reasons));
  }
  return text;
}

SweepWatch::SweepWatch(const std::vector<SweepRun>& runs, const WatchSettings& settings)
    : settings_(settings),
      board_(
          {.out = settings.screen, .terminal = settings.terminal, .clock = settings.clock, .elapsed = settings.elapsed},
          runs),
      next_look_(settings.clock()),
      next_question_(settings.clock() + (settings.stay ? 0 : settings.queue_seconds)),
      interval_(settings.queue_seconds) {
  for (const SweepRun& run : runs) {
    if (run.is_open()) open_.push_back({&run, "", false});
  }
}

LaunchReport SweepWatch::run() {
  LaunchReport report;
  for (;;) {
    if (settings_.clock() >= next_look_) look_at_runs();
    if (left_ == 0) return report;
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
  left_ = 0;
  bool some_ended = false;
  for (Open& open : open_) {
    if (open.ended && !settings_.stay) continue;  // a watch that stays may see it done again
    const bool ended = look_at(open);
    some_ended = some_ended || (ended && !open.ended);
    open.ended = ended;
    if (!ended) ++left_;
  }
  if (some_ended && settings_.finished) settings_.finished();
}

/// Returns whether the run has ended. Reads a journal again only if it has changed: there may be thousands.
bool SweepWatch::look_at(Open& open) {
  const SweepRun& run = *open.run;
  const fs::path& folder = run.planned.paths.folder;
  const LockState lock = fs::is_directory(folder) ? read_lock(folder) : LockState();
  if (lock.held) {
    ++working_;
    board_.runs_here(run, worker_text(lock.holder));
    open.seen.clear();
    return false;
  }
  const bool stop = is_stop_requested(folder);
  const std::string mark = journal_mark(folder) + (stop ? " stop" : "");
  if (mark == open.seen) return open.ended;
  SweepRun now = run;
  xlm::look_at(now, false);
  open.seen = now.action == SweepAction::kWait ? "" : mark;
  const RunStatus status = now.status.recorded.value_or(RunStatus::kQueued);
  const bool lost = has_ended(status) && status != RunStatus::kDone;
  if (now.action == SweepAction::kSkip || lost) {  // a run that is done may lack evaluations
    board_.ended(run, status, std::string(name_of(now.status)));
    return true;
  }
  if (now.action == SweepAction::kRun && stop) {
    board_.ended(run, status, "stopped by xlm runs stop");
    return true;
  }
  if (now.action == SweepAction::kWait) {
    ++working_;
    board_.runs_here(run);
  } else {
    board_.waits(run, waiting_word(now));
  }
  return false;
}

/// Asks the queue about workers. If it does not answer, the next look asks again.
void SweepWatch::ask_queue() {
  if (!settings_.workers) return;
  try {
    workers_ = settings_.workers();
  } catch (const Error& error) {
    spdlog::warn("{}", error.what());
    workers_.reset();
  }
  board_.set_workers(workers_line(workers_.value_or(std::vector<QueuedWorker>())));
}

/// Returns false if no worker is left.
bool SweepWatch::look_at_queue() {
  if (!settings_.workers) return true;
  ask_queue();
  std::string answer;
  for (const QueuedWorker& worker : workers_.value_or(std::vector<QueuedWorker>())) answer += worker.id + worker.state;
  interval_ = answer == last_answer_ ? std::min(2 * interval_, settings_.queue_max_seconds) : settings_.queue_seconds;
  last_answer_ = answer;
  next_question_ = settings_.clock() + interval_;
  if (settings_.stay || working_ > 0 || !workers_ || !workers_->empty()) return true;
  look_at_runs();  // the last worker may have finished since the last look
  return left_ == 0;
}

std::string SweepWatch::text(const Terminal& terminal) {
  look_at_runs();
  ask_queue();
  return board_.text(terminal);
}

Json SweepWatch::json() {
  look_at_runs();
  ask_queue();
  Json json = board_.json();
  json["workers"] = Json::array();
  for (const QueuedWorker& worker : workers_.value_or(std::vector<QueuedWorker>())) {
    json["workers"].push_back(
        {{"id", worker.id}, {"state", worker.state}, {"reason", worker.reason}, {"host", worker.host}});
  }
  return json;
}

}  // namespace xlm
