// A program of the user's as a worker's work.
#include "experiments/worker/program_work.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/progress.h"
#include "base/text.h"
#include "experiments/configuration/program_inputs.h"
#include "experiments/programs/metric_readers.h"
#include "experiments/programs/program_environment.h"
#include "experiments/programs/program_records.h"
#include "experiments/programs/read_variables.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/worker/checkpoint_watch.h"
#include "experiments/worker/environment.h"
#include "experiments/worker/outside_code.h"
#include "experiments/worker/program_evaluations.h"
#include "experiments/worker/program_results.h"
#include "experiments/worker/program_setting.h"

namespace xlm {
namespace {

constexpr std::chrono::milliseconds kBetweenPolls{100};
constexpr double kSecondsBetweenLooks = 1;  // seconds, for checkpoints and the lock
constexpr double kBetweenNotes = 10;        // seconds, for what has been read and used

bool has_same_data(const Run& run, const RunConfiguration& configuration) {
  return configuration.data.path.empty() ||
         summarize_any_data(configuration.data.path).fingerprint == run.environment.value("fingerprint", "");
}

/// At the end, when the data may even be gone: the training is done all the same.
bool have_data_changed(const Run& run, const RunConfiguration& configuration) {
  try {
    return !has_same_data(run, configuration);
  } catch (const Error&) {
    return true;
  }
}

void check_same_data(const Run& run, const RunConfiguration& configuration) {
  if (has_same_data(run, configuration)) return;
  throw DataError(
      fmt::format("the data in {} are not what the run {} was submitted with\n"
                  "restore them, or run train or sweep again: with other data it is another run",
                  configuration.data.path, run.id));
}

/// Other packages than before are refused. A variable may name a folder or a machine, so that is only said.
void warn_of_other_variables(const Run& run, const std::map<std::string, std::string>& now, JournalSink& sink) {
  const Json facts = run.environment.value("program", Json::object());
  const auto before = facts.value("variables", std::map<std::string, std::string>());
  if (before == now) return;
  const auto in_words = [](const std::map<std::string, std::string>& variables) {
    const auto words = mapped(variables, [](const auto& variable) { return variable.first + "=" + variable.second; });
    return words.empty() ? "none" : join(words, ", ");
  };
  sink.warn_at_end(fmt::format("it was continued with other variables of the shell: {}; before: {}", in_words(now),
                               in_words(before)));
}

bool has_been_started(const Run& run) {
  return std::ranges::any_of(run.history,
                             [](const RunState& state) { return state.state == name_of(RunStatus::kRunning); });
}

/// For each of its processes as many as the run began with, or as it is given here.
std::int64_t threads_of(const Run& run, const RunConfiguration& configuration, const WorkSettings& settings) {
  const std::int64_t processes = std::max<std::int64_t>(configuration.train.processes, 1);
  if (const std::int64_t before = run.environment.value("threads", std::int64_t{0}); before > 0) {
    return std::max<std::int64_t>(before * run.environment.value("processes", std::int64_t{1}) / processes, 1);
  }
  if (configuration.train.threads > 0) return configuration.train.threads;
  return default_threads(settings.threads, processes);
}

/// Removes what earlier attempts have left.
void begin_again(const ProgramPaths& paths) {
  for (const fs::path& left : paths.state()) {
    std::error_code error;
    fs::remove_all(left, error);
    if (error) throw_file_error("remove", left, error.value());
  }
}

[[noreturn]] void throw_failure(const ProgramEnd& end) {
  const std::string reason = reason_with_output(end);
  if (end.memory != MemoryShortage::kNone) {
    throw LostAttemptError({.cause = EndCause::kMemory,
                            .reason = reason,
                            .memory = end.memory == MemoryShortage::kHost ? job_memory() : 0,
                            .at_any_rows = true,
                            .code = kOutOfResources});
  }
  const bool killed = end.signal == SIGKILL || end.signal == SIGTERM || end.signal == SIGINT || end.signal == SIGHUP;
  if (killed || !end.watched) throw LostAttemptError({.cause = EndCause::kKilled, .reason = reason});
  throw Error("the program failed: " + reason);
}

/// One attempt, while the program runs.
class Attempt {
 public:
  /// `before`: the costs of the attempts that this one continues.
  Attempt(const Run& run, const ProgramOptions& program, const ProgramPaths& paths, const ProgramSetting& setting,
          const std::map<std::string, double>& before, bool resumes, std::int64_t asked_steps, JournalSink& sink,
          OutsideCode& outside)
      : run_(run),
        program_(program),
        paths_(paths),
        setting_(setting),
        resumes_(resumes),
        asked_steps_(asked_steps),
        sink_(sink),
        outside_(outside),
        results_(&sink, before),
        readers_(described_metrics(program, setting.places, paths.work()), paths.metrics(), results_, paths.output()),
        checkpoint_folder_(RunPaths{run.folder}.checkpoints()),
        checkpoints_(checkpoint_folder_) {}

  ProgramEnd run() {
    sink_.batch_evaluations();
    const bool has_checkpoint = resumes_ && !run_.checkpoints.empty();
    readers_.begin(position_of_earlier(), has_checkpoint ? std::optional(run_.checkpoints.back().step) : std::nullopt);
    note_position();
    ProgramProcess process(command_of(setting_, program_, paths_,
                                      [this](std::string_view bytes) { read([&] { readers_.output(bytes); }); }));
    const auto poll = [this] { readers_.poll(); };
    while (process.poll(kBetweenPolls)) {
      read(poll);
      look(process);
      if (sink_.should_stop()) process.stop();
    }
    const ProgramEnd& end = process.end();
    read(poll);
    const bool is_done = end.is_success() && !end.stopped;
    bool is_heard = true;
    read([&] { is_heard = readers_.finish(is_done && unread_.empty()); });
    look_for_checkpoint(true);
    results_.used(end.usage);
    note_position();
    if (!end.is_success() && !end.stopped) readers_.output_is_told();  // its failure ends with the last lines
    for (const std::string& warning : readers_.warnings()) sink_.message("warning: " + warning);
    if (is_done) {
      for (const std::string& doubt : doubts_of_numbers(results_, readers_)) sink_.warn_of_reading(doubt);
    }
    if (!unread_.empty()) warn_of_unread(is_done);
    if (is_done && !is_heard) {
      sink_.warn_of_reading(
          "a file of program.metrics got nothing after the run was resumed, so no number is final; if the "
          "program writes to another one now, name that, and say: xlm runs reread FILE");
    }
    // It may have come before the program was stopped.
    const std::vector<std::string> unheard = is_done && !resumes_ ? readers_.never_came() : std::vector<std::string>();
    if (!unheard.empty()) {
      sink_.warn_of_reading(join(unheard, "; ") +
                            "; if program.metrics is wrong, correct it and say: xlm runs reread FILE");
    }
    const std::set<std::int64_t> before = is_done ? earlier_steps() : std::set<std::int64_t>();
    if (is_done && resumes_) {
      warn_of_two_beginnings(before);
      warn_of_series_that_began_again(before);
      warn_of_lost_numbers(before);
    }
    if (is_done) warn_of_early_end(end, before);
    if (end.stopped) warn_of_stop(end);
    if (!end.log_failure.empty()) sink_.message("warning: output is missing in the log: " + end.log_failure);
    return end;
  }

 private:
  /// A program that has said its last, which cannot be read, is not ended for it. It is if it goes on to report.
  template <class Action>
  void read(const Action& action) {
    try {
      action();
    } catch (const LastLineError& error) {
      if (unread_.empty()) {
        unread_ = error.what();
        lines_until_unread_ = readers_.lines();
      }
    }
    if (!unread_.empty() && readers_.lines() > lines_until_unread_) throw DataError(unread_);
  }

  /// Some programs save, but do not load what they saved.
  void warn_of_two_beginnings(const std::set<std::int64_t>& before) {
    const std::optional<ProgramResults::Steps>& now = results_.steps();
    const bool is_more = before.size() > 1;  // one step may be an evaluation at each start
    if (!now || !is_more || now->first > *before.begin()) return;
    const std::string rest = now->last >= *before.rbegin()
                                 ? ""
                                 : fmt::format("; numbers behind step {} are of an attempt before", now->last);
    sink_.warn_at_end(fmt::format(
        "it had saved, and began again at step {}: it did not load that, or counts its steps from there{}; if "
        "it cannot resume, say program: {{resume: restart}}",
        now->first, rest));
  }

  /// Some programs load their weights and count epochs again. What hangs on these begins again, too: a learning rate.
  void warn_of_series_that_began_again(const std::set<std::int64_t>& before) {
    const std::optional<ProgramResults::Steps>& now = results_.steps();
    if (!now || before.empty() || now->first <= *before.begin()) return;
    std::vector<std::string> again;
    for (const auto& [name, series] : run_.metrics) {
      const auto first = results_.firsts().find(name);
      const bool is_first = first != results_.firsts().end() && first->second == series.begin()->second;
      const bool is_time = name.find("time") != std::string::npos || name.find("second") != std::string::npos;
      if (!is_first || is_time || !goes_one_way(series)) continue;
      again.push_back(fmt::format("{} at {}", name, series.begin()->second));
    }
    if (again.empty()) return;
    sink_.warn_at_end(fmt::format(
        "after step {} it was resumed and began again with {}, so what hangs on that, such as a schedule, began again",
        *before.rbegin(), listed_names(again, 3)));
  }

  /// Whether it rose or fell, and never did the other.
  static bool goes_one_way(const RunSeries& series) {
    const auto& [low, high] = std::minmax(series.begin()->second, series.rbegin()->second);
    const auto value = [](const auto& point) { return point.second; };
    return low != high && (std::ranges::is_sorted(series, std::less<>(), value) ||
                           std::ranges::is_sorted(series, std::greater<>(), value));
  }

  /// The steps of numbers that attempts before have reported.
  std::set<std::int64_t> earlier_steps() const {
    std::set<std::int64_t> steps;
    for (const auto& [name, series] : run_.metrics) {
      for (const auto& [step, value] : series) steps.insert(step);
    }
    for (const RunEvaluation& evaluation : run_.evaluations) steps.insert(evaluation.step);
    return steps;
  }

  /// Between neighbours.
  static std::int64_t longest_gap(const std::set<std::int64_t>& steps) {
    std::int64_t gap = 0;
    for (auto step = steps.begin(); step != steps.end() && std::next(step) != steps.end(); ++step)
      gap = std::max(gap, *std::next(step) - *step);
    return gap;
  }

  /// What a program has not yet written out is lost with it, although its checkpoint is behind that.
  void warn_of_lost_numbers(const std::set<std::int64_t>& before) {
    const std::optional<ProgramResults::Steps>& now = results_.steps();
    if (before.size() < 2) return;
    const std::int64_t last = *before.rbegin();
    if (!now) {
      sink_.warn_at_end(fmt::format(
          "it reported nothing after it was resumed: numbers behind step {} may be lost with the attempt before",
          last));
      return;
    }
    if (now->first <= last + 2 * std::max(now->gap, longest_gap(before))) return;
    sink_.warn_at_end(fmt::format("numbers between step {} and {} are lost with the attempt before", last, now->first));
  }

  /// Some programs end as if they had succeeded, though an error or a signal ended their training.
  void warn_of_early_end(const ProgramEnd& end, std::set<std::int64_t> known) {
    if (ends_with_exception(end.last_lines)) {
      sink_.warn_at_end("it ended with exit code 0, and its output with an exception; log.txt has its last lines");
    }
    if (end.left > 0) {
      sink_.warn_at_end(fmt::format("{} that it had started still ran when it ended, and had to end with it",
                                    end.left == 1 ? "a process" : fmt::format("{} processes", end.left)));
    }
    const std::optional<ProgramResults::Steps>& steps = results_.steps();
    if (!steps) return;
    const bool is_known_from_0 = !resumes_ || !known.empty();
    known.insert(steps->first);
    if (is_known_from_0) known.insert(0);
    std::optional<std::int64_t> gap;
    if (is_known_from_0 || steps->first != steps->last) gap = std::max(steps->gap, longest_gap(known));
    const std::string other = results_.other_length(asked_steps_, gap);
    if (!other.empty()) sink_.warn_of_reading(other);
  }

  /// The training is done, and what it said last can be read again.
  void warn_of_unread(bool is_done) {
    sink_.message("warning: " + unread_);
    if (!is_done) return;
    sink_.warn_of_reading(
        fmt::format("its last line cannot be read, so no number is final: {}; correct program.metrics "
                    "and say: xlm runs reread FILE",
                    first_line(unread_)));
  }

  /// Some programs end by an error instead of saving, and some have nothing to save yet.
  void warn_of_stop(const ProgramEnd& end) {
    if (end.killed) {
      sink_.warn_at_end(
          fmt::format("it did not end within {} s of the request to stop, and was killed", program_.grace));
    } else if (is_error(end)) {
      sink_.message(fmt::format("warning: it was asked to stop, and ended by an error: {}", reason_with_output(end)));
      sink_.warn_at_end(
          fmt::format("it was asked to stop, and ended by an error: {}; log.txt has its last lines", reason_of(end)));
    }
    if (checkpoints_.step() == 0 && !has_files(checkpoint_folder_)) {
      sink_.warn_at_end(
          "stopped before its first checkpoint, so it will begin again; let it save earlier or when it "
          "is asked to stop, or give it more time");
    }
  }

  static bool is_error(const ProgramEnd& end) {
    constexpr int kAfterSignal = 128;
    const auto is_of_request = [](int signal) { return signal == SIGTERM || signal == SIGINT || signal == SIGHUP; };
    if (end.signal != 0) return !is_of_request(end.signal);
    return end.code != 0 && end.code != kStopped && !is_of_request(end.code - kAfterSignal);
  }

  /// Up to where earlier attempts have read; null for the first one.
  Json position_of_earlier() const {
    try {
      if (fs::exists(paths_.position())) return read_json(paths_.position());
    } catch (const DataError& error) {
      sink_.message(fmt::format("warning: {}: all that the program left is read again", first_line(error.what())));
    }
    return resumes_ ? Json::object() : Json();
  }

  void look(const ProgramProcess& process) {
    const double now = monotonic_seconds();
    if (now < next_look_) return;
    next_look_ = now + kSecondsBetweenLooks;
    sink_.check_owner();
    sink_.sync_evaluations();
    outside_.look();
    const bool saved = look_for_checkpoint(false);
    if (!saved && now < next_note_) return;
    next_note_ = now + kBetweenNotes;
    results_.used(process.usage());
    note_position();
  }

  bool look_for_checkpoint(bool is_ended) {
    const auto step = [this] {
      read([this] { readers_.poll(); });
      return results_.step();
    };
    if (!checkpoints_.look(step, is_ended)) return false;
    checkpoints_.sync();
    sink_.checkpoint(checkpoints_.step(), checkpoints_.file());
    return true;
  }

  /// What has been read is on the disk before the note of it.
  void note_position() {
    sink_.sync();
    write_file(paths_.position(), json_text(readers_.position()));
  }

  const Run& run_;  // as it was before this attempt
  const ProgramOptions& program_;
  const ProgramPaths& paths_;
  const ProgramSetting& setting_;
  bool resumes_;
  std::int64_t asked_steps_;  // train.steps; 0: not said
  JournalSink& sink_;
  OutsideCode& outside_;
  ProgramResults results_;
  MetricReaders readers_;
  std::string unread_;  // what is wrong with the last line that was read
  std::int64_t lines_until_unread_ = 0;
  fs::path checkpoint_folder_;
  CheckpointWatch checkpoints_;
  double next_look_ = 0;
  double next_note_ = monotonic_seconds() + kBetweenNotes;
};

/// What the program finds when it starts.
void prepare(const Run& run, const RunConfiguration& configuration, const ProgramPaths& paths) {
  put_code(frozen_programs(paths.folder.parent_path()), run.contents.at("program.folder"), paths.work());
  create_folders(RunPaths{paths.folder}.checkpoints());
  write_file(paths.config(), json_text(to_json(resolved(configuration))));
}

class ProgramWork final : public Work {
 public:
  explicit ProgramWork(const WorkSettings& settings) : settings_(settings) {}

  TrainOutcome run(const Run& run, JournalSink& sink) override {
    const RunConfiguration configuration = submitted_configuration(run);
    const ProgramOptions& program = *configuration.program;
    check_same_data(run, configuration);
    const ProgramPaths paths{fs::absolute(run.folder).lexically_normal()};
    const fs::path checkpoints = RunPaths{paths.folder}.checkpoints();
    const bool resumes = program.resume == ProgramOptions::Resume::kCheckpoint && has_files(checkpoints);
    prepare(run, configuration, paths);
    const std::int64_t threads = threads_of(run, configuration, settings_);
    ProgramSetting setting = program_setting(configuration, paths, threads, resumes);
    OutsideCode outside(run, paths, sink);
    outside.check(settings_.anyway);
    ProgramEnvironment environment = find_program_environment(setting.words, paths.work(), setting.environment);
    const std::map<std::string, std::string> read = read_variables(paths.work(), setting.words, setting.environment);
    if (!read.empty()) environment.facts["variables"] = read;
    begin_attempt(run,
                  {.facts = {{"device", setting.device}, {"program", environment.facts}},
                   .threads = threads,
                   .processes = std::max<std::int64_t>(configuration.train.processes, 1),
                   .resumes = resumes,
                   .fresh = !resumes && has_been_started(run)},
                  settings_, sink);
    if (!resumes && (has_been_started(run) || has_files(checkpoints))) {  // nothing refuses the attempt any more
      begin_again(paths);
      prepare(run, configuration, paths);
    }
    if (!environment.note.empty()) sink.log(environment.note);
    if (resumes) warn_of_other_variables(run, read, sink);
    sink.begin({.steps = static_cast<double>(configuration.train.steps),
                .max_seconds = configuration.train.max_hours * 3600,
                .tensorboard = configuration.results.tensorboard});
    outside.begin(program.folder, setting);
    const std::map<std::string, double> before = resumes ? run.costs : std::map<std::string, double>();
    const ProgramEnd end =
        Attempt(run, program, paths, setting, before, resumes, configuration.train.steps, sink, outside).run();
    const bool has_python =
        environment.facts.contains("interpreter") || starts_python_by_a_shell(setting.words, paths.work());
    outside.finish(end.is_success() && !end.stopped && has_python);
    if (end.stopped) return TrainOutcome::kStopped;
    if (!end.is_success()) throw_failure(end);
    if (have_data_changed(run, configuration)) {
      sink.warn_at_end(
          fmt::format("the data in {} have changed while it ran: it may have read both", configuration.data.path));
    }
    take_code(frozen_programs(paths.folder.parent_path()), run.contents.at("program.folder"), paths.work());
    return TrainOutcome::kDone;
  }

  EvaluationsReport evaluate(const Run& run, JournalSink& sink) override {
    const RunConfiguration configuration = submitted_configuration(run);
    return make_program_evaluations(run, configuration, threads_of(run, configuration, settings_), sink);
  }

 private:
  const WorkSettings& settings_;
};

}  // namespace

std::unique_ptr<Work> make_program_work(const WorkSettings& settings) {
  return std::make_unique<ProgramWork>(settings);
}

}  // namespace xlm
