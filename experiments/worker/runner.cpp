// One worker doing one run.
#include "experiments/worker/runner.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/foreign_error.h"
#include "base/memory_limit.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/model_card.h"
#include "experiments/runs/origin.h"
#include "experiments/runs/stop_request.h"
#include "experiments/runs/submission.h"
#include "experiments/runs/wanted_evaluations.h"
#include "experiments/worker/attempt_end.h"
#include "experiments/worker/core_library.h"
#include "experiments/worker/environment.h"
#include "experiments/worker/hosts.h"
#include "experiments/worker/missing_evaluations.h"
#include "experiments/worker/peers.h"

namespace xlm {
namespace {

constexpr const char* kStopReason = "stopped by xlm runs stop";
constexpr int kMostLost = 3;  // processes in a row without a checkpoint in between

/// What a process that only computes says of it: nothing. It stops when it is asked to, as all of them then do.
class SilentSink final : public TrainSink {
 public:
  explicit SilentSink(std::function<bool()> should_stop) : should_stop_(std::move(should_stop)) {}
  void progress(std::int64_t /*step*/, const NamedValues& /*values*/) override {}
  void metrics(std::int64_t /*step*/, const NamedValues& /*values*/) override {}
  void grid(std::int64_t /*step*/, const Grid& /*grid*/) override {}
  void evaluation(const Evaluation& /*evaluation*/) override {}
  void costs(const NamedValues& /*values*/) override {}
  void saving() override {}
  void checkpoint(std::int64_t /*step*/, const fs::path& /*file*/) override {}
  void message(const std::string& /*text*/) override {}
  void check_owner() override {}
  bool should_stop() override { return should_stop_ && should_stop_(); }

 private:
  std::function<bool()> should_stop_;
};

std::optional<RunReport> stopped_by_request(const Run& run) {
  if (!is_stop_requested(run.folder)) return std::nullopt;
  return RunReport{kStopped, run.status, fmt::format("{} was {}", run.id, kStopReason)};
}

/// A report where there is nothing to do.
std::optional<RunReport> settled(const Run& run, bool retry) {
  if (run.status == RunStatus::kDone) {
    if (!missing_evaluations(run, run.wanted).empty()) return stopped_by_request(run);
    return RunReport{kDone, run.status, fmt::format("{} is done already", run.id)};
  }
  if (auto report = stopped_by_request(run)) return report;
  if (run.status != RunStatus::kDiverged || retry) return std::nullopt;
  return RunReport{
      kDiverged, run.status,
      fmt::format("{} diverged: {}\n--retry tries it again from its last finite checkpoint", run.id, run.reason)};
}

RunOptions configured_options(const Run& run) { return read_run_options(read_yaml(RunPaths{run.folder}.config())); }

/// With `here` of the run's processes on this machine.
RunOptions pinned_options(const Run& run, const WorkSettings& settings, std::int64_t here) {
  RunOptions options = configured_options(run);
  std::int64_t& threads = options.train.threads;
  const std::int64_t processes = options.train.processes;
  if (const Json& before = run.environment; before.contains("threads")) {  // as the run was started
    const std::int64_t all = before["threads"].get<std::int64_t>() * before.value("processes", std::int64_t{1});
    threads = threads == 0 ? std::max<std::int64_t>(all / processes, 1) : before["threads"].get<std::int64_t>();
  } else if (threads == 0) {  // the cores that the run is given here, shared by its processes
    const std::int64_t cores = settings.threads > 0 ? settings.threads : available_cores();
    threads = std::max<std::int64_t>(cores / here, 1);
  }
  if (run.micro_batch > 0) options.train.micro_batch = rows_at_once(run);
  return options;
}

void check_unchanged(const Run& run, const RunOptions& options) {
  const RunInputs inputs = read_inputs(options);
  constexpr const char* kHow = "put it back, or run train or sweep again: with another one it is another run";
  if (inputs.data.fingerprint != run.environment.value("fingerprint", "")) {
    throw DataError(
        fmt::format("the data in {} is not what the run {} was submitted with\n{}", options.data.path, run.id, kHow));
  }
  const Json submitted = run.environment.value("contents", Json::object());
  for (const auto& [key, content] : inputs.contents) {
    if (submitted.value(key, "") == content) continue;
    throw DataError(fmt::format("{}: what it names is not what the run {} was submitted with\n{}", key, run.id, kHow));
  }
}

/// Bits that a CPU computes are not those of a GPU, and another program may compute something else. Adds the origin of
/// the first part to this part's environment. Throws UsageError where it is another one.
void pin_origin(const Run& run, Json& environment, const WorkSettings& settings, JournalSink& sink) {
  const Json now = origin_of(environment);
  const bool resumed = checkpoint_step(run) > 0 && run.environment.contains("device");
  const Json first = resumed ? run.environment.value("first", origin_of(run.environment)) : now;
  environment["first"] = first;
  const std::string change = changed_origin(first, now);
  if (change.empty()) return;
  if (!settings.anyway) {
    throw UsageError(
        fmt::format("the run {} began {}\nits result would be of neither: use what it began with, or say --anyway",
                    run.id, change));
  }
  sink.message(fmt::format("warning: began {}, as --anyway says", change));
}

TrainOutcome work(const Run& run, const std::function<Core&()>& open_core, const WorkSettings& settings,
                  const RunLock& lock, JournalSink& sink, std::optional<Peers>& peers) {
  const std::int64_t processes = configured_options(run).train.processes;
  const Hosts hosts = find_hosts(processes, [&sink] { return sink.should_stop(); });
  const RunOptions options = pinned_options(run, settings, hosts.share(processes));
  check_unchanged(run, options);
  check_threads(options.train.threads * hosts.share(processes));
  Core& core = open_core();
  Json environment = worker_environment(run.environment, core, options, settings.command);
  environment.erase("hosts");
  if (hosts.count() > 1) environment["hosts"] = hosts.names;
  pin_origin(run, environment, settings, sink);
  sink.check_owner();
  write_file(RunPaths{run.folder}.environment(), json_text(environment));
  const std::string device = environment.value("device", options.device);
  const std::string job = this_process().job;
  Json state = {{"host", environment["host"]}, {"pid", this_process().pid}};
  if (!job.empty()) state["job"] = job;
  if (processes > 1) state["processes"] = processes;
  if (hosts.count() > 1) state["hosts"] = hosts.names;
  sink.state(RunStatus::kRunning, state);
  sink.log(fmt::format("{} on {}, threads: {}, worker {}{}", run.id, device, options.train.threads, lock.token(),
                       job.empty() ? "" : " in job " + job));
  if (!hosts.note.empty()) sink.log(hosts.note);
  sink.begin(options);
  peers.emplace(
      run.folder, program_files().executable.string(), processes, options.train.threads, hosts,
      [&sink] { return sink.should_stop(); }, [&sink](const std::string& text) { sink.message(text); });
  sink.when_stopping([&peers] {
    if (peers) peers->stop();
  });
  return core.train(
      {.options = options, .folder = run.folder, .model_yaml = model_yaml(options), .processes = peers->first()}, sink);
}

/// Journals how an attempt failed, as far as the disk, the journal and the lock allow it.
RunReport failed(JournalSink& sink, RunStatus status, const Json& record, ExitCode code) {
  const auto message = record.at("reason").get<std::string>();
  sink.finish();
  try {
    sink.check_owner();
    sink.log(fmt::format("{}: {}", name_of(status), join(split(message, '\n'), "; ")));  // a sweep shows the last line
    sink.state(status, record);
    if (status == RunStatus::kQueued) sink.message("note: " + message);
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
  const bool again = fewer_rows(run).has_value();
  return failed(sink, again ? RunStatus::kQueued : RunStatus::kFailed, record_of_end(run, end, again), kOutOfResources);
}

/// The attempt is stopped before it has anything to save.
RunReport stopped_early(JournalSink& sink, const std::string& reason) {
  sink.finish();
  sink.state(RunStatus::kPreempted, {{"reason", reason}});
  return {kStopped, RunStatus::kPreempted, ""};
}

/// Another process of the run has ended. The run is queued again, unless that is how it goes each time.
RunReport lost_process(JournalSink& sink, const fs::path& run_folder, const AttemptEnd& end) {
  if (end.at_any_rows) return without_memory(sink, end.reason, end.memory);
  if (end.code == kDiverged) return failed(sink, RunStatus::kDiverged, {{"reason", end.reason}}, kDiverged);
  const Run run = read_run(run_folder);  // with the checkpoints of this attempt
  if (end.cause == EndCause::kMemory) return out_of_memory(sink, run, end);
  const bool again = end.cause == EndCause::kKilled && lost_in_a_row(run) < kMostLost;
  return failed(sink, again ? RunStatus::kQueued : RunStatus::kFailed, record_of_end(run, end, again), end.code);
}

std::optional<RunReport> attempt_training(const Run& run, const std::function<Core&()>& open_core,
                                          const WorkSettings& settings, const RunLock& lock, JournalSink& sink,
                                          std::optional<Peers>& peers) {
  try {
    const bool done = work(run, open_core, settings, lock, sink, peers) == TrainOutcome::kDone;
    const RunStatus status = done ? RunStatus::kDone : RunStatus::kPreempted;
    sink.finish();
    sink.check_owner();
    if (done) describe_model(read_run(run.folder));  // before it counts as done: a kill in between does it again
    const std::string why = done                       ? ""
                            : sink.was_asked_to_stop() ? kStopReason
                            : sink.has_paused()        ? "paused at a rung of its sweep"
                                                       : "";
    sink.state(status, why.empty() ? Json::object() : Json{{"reason", why}});
    sink.log(done ? "done" : "stopped with a checkpoint");
    return done ? std::nullopt : std::optional<RunReport>({kStopped, status, ""});
  } catch (const LostRunError& error) {
    sink.finish();
    return RunReport{kFailed, RunStatus::kRunning, error.what()};
  } catch (const DivergedError& error) {
    return failed(sink, RunStatus::kDiverged, {{"reason", error.what()}}, kDiverged);
  } catch (const MemoryError& error) {
    return out_of_memory(sink, run, {EndCause::kMemory, error.what(), job_memory()});
  } catch (const MemoryLimitError& error) {
    return without_memory(sink, error.what());
  } catch (const std::bad_alloc&) {
    return without_memory(sink, "out of memory");
  } catch (const LostProcessError& error) {
    std::optional<AttemptEnd> end = peers->lost();
    // A node that is gone may be so without a word of srun's, for a while.
    if (!end && peers->first().hosts > 1) end = AttemptEnd{EndCause::kKilled, error.what()};
    const bool stopped = sink.should_stop() && (!end || end->cause == EndCause::kKilled);
    if (!stopped && end) return lost_process(sink, run.folder, *end);
    if (!stopped) return failed(sink, EndCause::kError, error.what(), error.code());
    return stopped_early(sink, "stopped before its processes had met or saved");
  } catch (const Error& error) {
    if (error.code() == kStopped) return stopped_early(sink, error.what());
    return failed(sink, EndCause::kError, error.what(), error.code());
  } catch (const std::exception& error) {
    const Error in_words = as_error(error);
    return failed(sink, EndCause::kError, in_words.what(), in_words.code());
  }
}

/// Trains; a report where that did not end with a model.
std::optional<RunReport> do_training(const Run& run, const std::function<Core&()>& open_core,
                                     const WorkSettings& settings, const RunLock& lock, JournalSink& sink) {
  std::optional<Peers> peers;
  std::optional<RunReport> report = attempt_training(run, open_core, settings, lock, sink, peers);
  sink.when_stopping(nullptr);
  return report;
}

/// Makes the evaluations that are wanted of a run that is done. What goes wrong with them leaves it done.
RunReport do_evaluations(const fs::path& run_folder, const std::function<Core&()>& open_core,
                         const WorkSettings& settings, JournalSink& sink) {
  try {
    const Run run = read_run(run_folder);
    if (run.wanted.empty()) return {kDone, RunStatus::kDone, ""};
    const std::int64_t processes = configured_options(run).train.processes;
    const Json& hosts = run.environment.contains("hosts") ? run.environment["hosts"] : Json::array();
    const std::int64_t here = processes / std::max<std::int64_t>(std::ssize(hosts), 1);
    RunOptions options = pinned_options(run, settings, here);
    options.train.threads *= here;  // this process makes them alone
    const EvaluationsReport report = make_missing_evaluations(open_core(), run, options,
                                                              {.log = [&](const std::string& line) { sink.log(line); },
                                                               .should_stop = [&] { return sink.should_stop(); },
                                                               .check_owner = [&] { sink.check_owner(); }});
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

int take_part(const fs::path& run_folder, const std::function<Core&()>& open_core, const WorkSettings& settings,
              Processes processes) {
  const Run run = read_run(run_folder);
  processes.count = configured_options(run).train.processes;
  if (processes.rank >= processes.count || processes.count % processes.hosts != 0) {
    throw UsageError(fmt::format("{} has train.processes={}: none of them has rank {} on one of {} machines", run.id,
                                 processes.count, processes.rank, processes.hosts));
  }
  RunOptions options = pinned_options(run, settings, processes.count_here());
  options.train.threads = settings.threads;
  SilentSink sink(settings.sink.should_stop);
  processes.should_stop = settings.sink.should_stop;
  processes.secret = read_secret(settings.sink.should_stop);
  if (sink.should_stop()) return kStopped;
  if (processes.secret.empty()) {
    throw UsageError(
        fmt::format("no secret comes on standard input: {} cannot meet its other processes\n"
                    "its first process starts the others: run train or sweep",
                    run.id));
  }
  try {
    const TrainOutcome outcome =
        open_core().train({.options = options, .folder = run_folder, .model_yaml = "", .processes = processes}, sink);
    return outcome == TrainOutcome::kDone ? kDone : kStopped;
  } catch (const LostProcessError&) {
    return kLostOthers;
  } catch (const MemoryError&) {
    return kOutOfMemoryAmidStep;
  } catch (const Error& error) {
    leave_word(processes, error);
    throw;
  }
}

RunReport execute(const fs::path& run_folder, const std::function<Core&()>& open_core, const WorkSettings& settings) {
  if (const auto report = settled(read_live_run(run_folder), settings.retry)) {
    remove_unfinished_files(run_folder);
    return *report;
  }
  const RunLock lock(run_folder, settings.lock);
  Run run = read_run(run_folder);  // another worker may just have finished it
  if (const auto report = settled(run, settings.retry)) return *report;
  remove_unfinished_files(run_folder);
  remove_left_meetings(run_folder);
  std::optional<JournalSink> sink;
  sink.emplace(RunPaths{run_folder}, lock, settings.sink);
  while (run.status != RunStatus::kDone) {
    const std::optional<RunReport> report = do_training(run, open_core, settings, lock, *sink);
    if (!report) break;
    if (report->status != RunStatus::kQueued) return *report;
    if (settings.sink.should_stop && settings.sink.should_stop()) return {kStopped, report->status, report->message};
    run = read_run(run_folder);  // it ran out of memory, and is tried again with less of it
    sink.emplace(RunPaths{run_folder}, lock, settings.sink);
  }
  return do_evaluations(run_folder, open_core, settings, *sink);
}

}  // namespace xlm
