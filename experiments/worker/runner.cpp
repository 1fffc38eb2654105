// One worker doing one run.
#include "experiments/worker/runner.h"

#include <memory>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/foreign_error.h"
#include "base/memory_limit.h"
#include "base/text.h"
#include "experiments/programs/program_end.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/own_submissions.h"
#include "experiments/runs/process_identity.h"
#include "experiments/runs/stop_request.h"
#include "experiments/runs/wanted_evaluations.h"
#include "experiments/worker/attempt_end.h"
#include "results/run_folder/journal.h"

namespace xlm {
namespace {

constexpr const char* kStopReason = "stopped by xlm runs stop";

std::optional<RunReport> stopped_by_request(const Run& run) {
  if (!is_stop_requested(run.folder)) return std::nullopt;
  return RunReport{kStopped, run.status, fmt::format("{} was {}", run.id, kStopReason)};
}

/// A report where there is nothing to do.
std::optional<RunReport> settled(const Run& run, bool retry) {
  if (run.status == RunStatus::kDone) {
    if (!evaluations_to_make(run).empty()) return stopped_by_request(run);
    return RunReport{kDone, run.status, fmt::format("{} is done already", run.id)};
  }
  if (auto report = stopped_by_request(run)) return report;
  if (run.status != RunStatus::kDiverged || retry) return std::nullopt;
  return RunReport{
      kDiverged, run.status,
      fmt::format("{} diverged: {}\n--retry tries it again from its last finite checkpoint", run.id, run.reason)};
}

/// Journals how an attempt failed, as far as the disk, the journal and the lock allow it.
RunReport failed(JournalSink& sink, RunStatus status, Json record, ExitCode code) {
  record["pid"] = this_process().pid;  // this worker says so itself, now
  const auto message = record.at("reason").get<std::string>();
  const std::string brief = without_output(message);  // its log has the output, and who reports the end shows it
  sink.finish();
  try {
    sink.check_owner();
    const bool again = status == RunStatus::kQueued;
    if (!again) sink.log(fmt::format("{}: {}", name_of(status), join(split(brief, '\n'), "; ")));  // a sweep shows it
    sink.state(status, record);
    if (again) sink.message("note: " + brief);
  } catch (const std::exception&) {
    // A full disk: the run stays as it is and is found stale.
    if (status == RunStatus::kQueued) return {code, RunStatus::kFailed, message};
  }
  return {code, status, message};
}

RunReport failed(JournalSink& sink, EndCause cause, const std::string& message, ExitCode code) {
  return failed(sink, RunStatus::kFailed, {{"reason", message}, {"cause", name_of(cause)}}, code);
}

/// There was no memory for what the run needs at any number of rows. What its job had of it is kept: the next
/// submission asks for more.
RunReport without_memory(JournalSink& sink, const std::string& message, double had = job_memory()) {
  Json record = {{"reason", message}, {"cause", name_of(EndCause::kMemory)}};
  if (had > 0) record["memory"] = had;
  return failed(sink, RunStatus::kFailed, record, kOutOfResources);
}

/// The run is queued again where fewer rows of its batch can be computed at once.
RunReport out_of_memory(JournalSink& sink, const Run& run, const AttemptEnd& end) {
  const bool again = fewer_rows(run, end.rows).has_value();
  return failed(sink, again ? RunStatus::kQueued : RunStatus::kFailed, record_of_end(run, end, again), kOutOfResources);
}

/// The attempt is stopped before it has anything to save.
RunReport stopped_early(JournalSink& sink, const std::string& reason) {
  sink.finish();
  sink.state(RunStatus::kPreempted, {{"reason", reason}});
  return {kStopped, RunStatus::kPreempted, ""};
}

/// What runs the attempt, or a part of it, ended without a word. The run is queued again, unless that happens each
/// time.
RunReport lost_attempt(JournalSink& sink, const fs::path& run_folder, const AttemptEnd& end) {
  if (end.at_any_rows) return without_memory(sink, end.reason, end.memory);
  if (end.code == kDiverged) return failed(sink, RunStatus::kDiverged, {{"reason", end.reason}}, kDiverged);
  const Run run = read_run(run_folder);  // with the checkpoints of this attempt
  if (end.cause == EndCause::kMemory) return out_of_memory(sink, run, end);
  const bool again = end.cause == EndCause::kKilled && lost_in_a_row(run) < kMaxLost;
  return failed(sink, again ? RunStatus::kQueued : RunStatus::kFailed, record_of_end(run, end, again), end.code);
}

std::optional<RunReport> attempt_training(const Run& run, Work& work, JournalSink& sink) {
  try {
    const bool done = work.run(run, sink) == TrainOutcome::kDone;
    const RunStatus status = done ? RunStatus::kDone : RunStatus::kPreempted;
    sink.finish();
    sink.check_owner();
    std::string why = done                       ? ""
                      : sink.was_asked_to_stop() ? kStopReason
                      : sink.has_paused()        ? "paused at a rung of its sweep"
                                                 : "";
    Json fields = Json::object();
    for (const auto* warnings : {&sink.warnings_of_reading(), &sink.lasting_warnings()}) {
      for (const std::string& warning : *warnings) add_warning(why, warning);
    }
    if (!why.empty()) fields["reason"] = why;
    if (!sink.lasting_warnings().empty()) fields["lasting"] = sink.lasting_warnings();
    sink.state(status, fields);
    sink.log(done ? "done" : "stopped");
    return done ? std::nullopt : std::optional<RunReport>({kStopped, status, ""});
  } catch (const LostRunError& error) {
    sink.finish();
    return RunReport{kFailed, RunStatus::kRunning, error.what()};
  } catch (const DivergedError& error) {
    return failed(sink, RunStatus::kDiverged, {{"reason", error.what()}}, kDiverged);
  } catch (const StepMemoryError& error) {
    return out_of_memory(
        sink, run, {.cause = EndCause::kMemory, .reason = error.what(), .memory = job_memory(), .rows = error.rows()});
  } catch (const MemoryError& error) {
    return out_of_memory(sink, run, {EndCause::kMemory, error.what(), job_memory()});
  } catch (const MemoryLimitError& error) {
    return without_memory(sink, error.what());
  } catch (const std::bad_alloc&) {
    return without_memory(sink, "out of memory");
  } catch (const LostAttemptError& error) {
    return lost_attempt(sink, run.folder, error.end);
  } catch (const Error& error) {
    if (error.code() == kStopped) return stopped_early(sink, error.what());
    return failed(sink, EndCause::kError, error.what(), error.code());
  } catch (const std::exception& error) {
    const Error in_words = as_error(error);
    return failed(sink, EndCause::kError, in_words.what(), in_words.code());
  }
}

/// Trains. Returns a report if that did not end with a model.
std::optional<RunReport> do_training(const Run& run, const std::function<Core&()>& open_core,
                                     const WorkSettings& settings, JournalSink& sink) {
  const std::unique_ptr<Work> work = make_work(run, open_core, settings);
  std::optional<RunReport> report = attempt_training(run, *work, sink);
  sink.when_stopping(nullptr);
  return report;
}

/// A run into which another user laid a link is not done. Its journal says why, unless that is such a link.
void record_refusal(const fs::path& run_folder, const LockSettings& settings, const std::string& why) {
  try {
    const RunLock lock(run_folder, settings);
    const Json record = {{"state", name_of(RunStatus::kFailed)},
                         {"reason", why},
                         {"cause", name_of(EndCause::kError)},
                         {"pid", this_process().pid}};
    Journal(RunPaths{run_folder}.journal(), nullptr, lock.token()).append("state", record, true);
  } catch (const Error&) {  // its sweep says that a worker failed
  }
}

/// Makes the evaluations that are wanted of a run that is done. What goes wrong with them leaves it done.
RunReport do_evaluations(const fs::path& run_folder, const std::function<Core&()>& open_core,
                         const WorkSettings& settings, JournalSink& sink) {
  try {
    const Run run = read_run(run_folder);
    if (run.wanted.empty()) return {kDone, RunStatus::kDone, ""};
    const EvaluationsReport report = make_work(run, open_core, settings)->evaluate(run, sink);
    sink.check_owner();
    return {report.stopped ? kStopped : report.code, RunStatus::kDone, report.message};
  } catch (const LostRunError& error) {
    return {kFailed, RunStatus::kDone, error.what()};
  } catch (const Error& error) {
    sink.log(error.what());
    return {error.code(), RunStatus::kDone, error.what()};
  }
}

}  // namespace

RunReport execute(const fs::path& run_folder, const std::function<Core&()>& open_core, const WorkSettings& settings) {
  if (const auto report = settled(read_live_run(run_folder), settings.retry)) {
    remove_unfinished_files(run_folder);
    return *report;
  }
  try {
    check_links(run_folder);
  } catch (const DataError& error) {
    record_refusal(run_folder, settings.lock, error.what());
    throw;
  }
  const RunLock lock(run_folder, settings.lock);
  Run run = read_run(run_folder);  // another worker may just have finished it
  if (const auto report = settled(run, settings.retry)) return *report;
  remove_unfinished_files(run_folder);
  JournalSink::Settings writing = settings.sink;
  if (!writing.began) writing.began = writing.clock();  // also for attempts with less memory
  std::optional<JournalSink> sink;
  sink.emplace(RunPaths{run_folder}, lock, writing);
  while (run.status != RunStatus::kDone) {
    const std::optional<RunReport> report = do_training(run, open_core, settings, *sink);
    if (!report) break;
    if (report->status != RunStatus::kQueued) return *report;
    if (settings.sink.should_stop && settings.sink.should_stop()) return {kStopped, report->status, report->message};
    run = read_run(run_folder);  // it ran out of memory, and is tried again with less of it
    sink.emplace(RunPaths{run_folder}, lock, writing);
  }
  return do_evaluations(run_folder, open_core, settings, *sink);
}

}  // namespace xlm
