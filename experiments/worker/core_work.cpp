// Core as a worker's work.
#include "experiments/worker/core_work.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/memory_limit.h"
#include "base/sha256.h"
#include "experiments/configuration/configuration.h"
#include "experiments/configuration/option_checks.h"
#include "experiments/configuration/training_length.h"
#include "experiments/runs/branch.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/model_card.h"
#include "experiments/runs/run_checkpoints.h"
#include "experiments/runs/run_plan.h"
#include "experiments/worker/core_library.h"
#include "experiments/worker/environment.h"
#include "experiments/worker/peers.h"

namespace xlm {
namespace {

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

RunOptions configured_options(const Run& run) { return read_run_options(read_yaml(RunPaths{run.folder}.config())); }

/// For each of so many processes.
RunOptions pinned_options(const Run& run, const WorkSettings& settings, std::int64_t processes) {
  RunOptions options = configured_options(run);
  std::int64_t& threads = options.train.threads;
  if (const Json& before = run.environment; before.contains("threads")) {  // as the run was started
    const std::int64_t all = before["threads"].get<std::int64_t>() * before.value("processes", std::int64_t{1});
    threads = threads == 0 ? std::max<std::int64_t>(all / processes, 1) : before["threads"].get<std::int64_t>();
  } else if (threads == 0) {
    threads = default_threads(settings.threads, processes);
  }
  if (run.micro_batch > 0) options.train.micro_batch = rows_at_once(run);
  return options;
}

/// How many processes do the run on a device. Earlier versions had several on the CPU, too: one resumes such a run.
/// Throws UsageError for a run that begins so.
std::int64_t processes_on(const std::string& device, const Run& run, const RunOptions& options) {
  if (options.train.processes == 1 || device != "cpu") return options.train.processes;
  if (!run.environment.contains("device")) check_processes(options, device);
  return 1;
}

std::string processes_note(std::int64_t asked) {
  return fmt::format(
      "note: train.processes={} is for GPUs: one process resumes this run, with the same batches; its sums add up in "
      "another order, so the last bits of its numbers are not those of {} processes",
      asked, asked);
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

/// The step that training resumes from, as the files say, which core reads; 0: it begins.
std::int64_t saved_step(const Run& run) {
  const std::vector<std::int64_t> steps = checkpoint_steps(run.folder);
  const bool has_recorded = !run.checkpoints.empty() && fs::exists(run.folder / run.checkpoints.back().file);
  return std::max(steps.empty() ? 0 : steps.back(), has_recorded ? checkpoint_step(run) : 0);
}

/// Where files and journal disagree: checkpoints may have been removed, packed without, or brought from elsewhere.
/// Empty if they agree.
std::string note_of_checkpoints(const Run& run, std::int64_t saved) {
  const std::int64_t recorded = checkpoint_step(run);
  if (saved == recorded) return "";
  const std::string what = recorded > 0 ? fmt::format("a checkpoint of step {}", recorded) : "no checkpoint";
  const std::string found = saved > 0 ? fmt::format("the newest file is of step {}: training resumes from it", saved)
                                      : "there is none in checkpoints/: training begins again";
  return fmt::format("warning: the journal records {}, and {}", what, found);
}

Json facts_of(Core& core, const std::string& device) {
  Json facts = core.environment(device);
  const fs::path library = program_files().core_library;
  if (fs::is_regular_file(library)) facts["core_sha256"] = sha256_file(library);
  return facts;
}

/// How long a run with a budget will be, as far as that is known.
ExpectedSteps steps_of(Core& core, const RunOptions& options) {
  if (options.train.flops == 0) return {static_cast<double>(options.train.steps), true};
  const std::int64_t symbols = summarize_prepared(options.data.path).symbols;
  return expected_steps(options, value_or(core.costs(options, symbols), "flops_per_token", 0),
                        core.costs_are_measured(options, symbols));
}

/// What a user should know of a run whose length is a budget. Empty for others.
std::string budget_note(const TrainOptions& train, const ExpectedSteps& steps) {
  if (train.seconds > 0) {
    return "note: train.seconds gives each machine another number of steps: the result depends on this one";
  }
  if (train.flops == 0 || steps.count == 0) return "";
  return fmt::format("train.flops={:g}: {}{:.0f} steps", train.flops, steps.is_exact ? "" : "about ", steps.count);
}

class CoreWork final : public Work {
 public:
  CoreWork(const std::function<Core&()>& open_core, const WorkSettings& settings)
      : open_core_(open_core), settings_(settings) {}

  TrainOutcome run(const Run& run, JournalSink& sink) override {
    remove_left_meetings(run.folder);
    const RunOptions configured = configured_options(run);
    check_unchanged(run, configured);
    require_start(run, configured);
    Core& core = open_core_();
    const Json facts = facts_of(core, configured.device);
    const std::int64_t processes = processes_on(facts.at("device").get<std::string>(), run, configured);
    const RunOptions options = pinned_options(run, settings_, processes);
    check_threads(options.train.threads * processes);
    const std::int64_t saved = saved_step(run);
    begin_attempt(run, {.facts = facts, .threads = options.train.threads, .processes = processes, .resumes = saved > 0},
                  settings_, sink);
    if (const std::string note = note_of_checkpoints(run, saved); !note.empty()) sink.message(note);
    const ExpectedSteps steps = steps_of(core, options);
    const std::string note = budget_note(options.train, steps);
    if (!note.empty() && saved == 0) sink.message(note);
    sink.begin({.steps = steps.count,
                .tokens_per_step = static_cast<double>(options.train.batch * options.train.block),
                .max_seconds = options.train.max_hours * 3600,
                .tensorboard = options.results.tensorboard,
                .times_steps = true});
    if (processes < options.train.processes) sink.message(processes_note(options.train.processes));
    peers_.emplace(
        run.folder, program_files().executable.string(), processes, options.train.threads,
        [&sink] { return sink.should_stop(); }, [&sink](const std::string& text) { sink.message(text); });
    sink.when_stopping([this] { peers_->stop(); });
    const TrainOutcome outcome = train(core, run, options, sink);
    if (outcome == TrainOutcome::kDone) {  // before it counts as done: a kill in between does it again
      sink.check_owner();
      describe_model(read_run(run.folder));
    }
    return outcome;
  }

  EvaluationsReport evaluate(const Run& run, JournalSink& sink) override {
    return make_missing_evaluations(open_core_(), run, pinned_options(run, settings_, 1), sink);
  }

 private:
  TrainOutcome train(Core& core, const Run& run, const RunOptions& options, JournalSink& sink) {
    try {
      return core.train(
          {.options = options, .folder = run.folder, .model_yaml = model_yaml(options), .processes = peers_->first()},
          sink);
    } catch (const LostProcessError&) {
      const std::optional<AttemptEnd> end = peers_->lost();
      if (sink.should_stop() && (!end || end->cause == EndCause::kKilled)) {
        throw Error("stopped before its processes had met or saved", kStopped);
      }
      if (end) throw LostAttemptError(*end);
      throw;
    }
  }

  const std::function<Core&()>& open_core_;
  const WorkSettings& settings_;
  std::optional<Peers> peers_;
};

}  // namespace

std::unique_ptr<Work> make_core_work(const std::function<Core&()>& open_core, const WorkSettings& settings) {
  return std::make_unique<CoreWork>(open_core, settings);
}

int take_part(const fs::path& run_folder, const std::function<Core&()>& open_core, const WorkSettings& settings,
              Processes processes) {
  const Run run = read_run(run_folder);
  processes.count = configured_options(run).train.processes;
  if (processes.rank >= processes.count) {
    throw UsageError(
        fmt::format("{} has train.processes={}: none of them has rank {}", run.id, processes.count, processes.rank));
  }
  RunOptions options = pinned_options(run, settings, processes.count);
  options.train.threads = settings.threads;
  SilentSink sink(settings.sink.should_stop);
  processes.should_stop = settings.sink.should_stop;
  processes.give_up = [first = ::getppid()] { return ::getppid() != first; };
  try {
    const TrainOutcome outcome =
        open_core().train({.options = options, .folder = run_folder, .model_yaml = "", .processes = processes}, sink);
    return outcome == TrainOutcome::kDone ? kDone : kStopped;
  } catch (const LostProcessError&) {
    return kLostOthers;
  } catch (const StepMemoryError& error) {
    leave_rows(processes, error.rows());
    return kOutOfMemoryAmidStep;
  } catch (const MemoryError&) {
    return kOutOfMemoryAmidStep;
  } catch (const Error& error) {
    leave_word(processes, error);
    throw;
  }
}

}  // namespace xlm
