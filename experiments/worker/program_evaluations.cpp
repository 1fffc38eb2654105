// Evaluations by a program's second command.
#include "experiments/worker/program_evaluations.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/sha256.h"
#include "base/text.h"
#include "experiments/configuration/evaluation_command.h"
#include "experiments/configuration/program_inputs.h"
#include "experiments/programs/code_paths.h"
#include "experiments/programs/metric_readers.h"
#include "experiments/runs/wanted_evaluations.h"
#include "experiments/worker/outside_code.h"
#include "experiments/worker/program_results.h"
#include "experiments/worker/program_setting.h"

namespace xlm {
namespace {

constexpr std::chrono::milliseconds kBetweenEvaluationPolls{100};
constexpr double kBetweenOwnerChecks = 1;  // seconds

/// Gathers what a command reports. A number without a split belongs to the split that is evaluated.
class ReportedEvaluations final : public RecordSink {
 public:
  explicit ReportedEvaluations(std::string split) : split_(std::move(split)) {}

  void metrics(std::int64_t step, const std::map<std::string, double>& values) override {
    add(split_, values);
    step_ = std::max(step_, step);
  }
  void evaluation(const ProgramEvaluation& evaluation) override {
    add(evaluation.split, evaluation.values);
    step_ = std::max(step_, evaluation.step);
  }
  void costs(const std::map<std::string, double>& /*values*/) override {}  // the run has its own
  void grid(std::int64_t /*step*/, const ProgramGrid& /*grid*/) override {}

  const std::map<std::string, std::map<std::string, double>>& by_split() const { return by_split_; }
  /// The greatest step that it said; 0: none.
  std::int64_t step() const { return step_; }

 private:
  void add(const std::string& split, const std::map<std::string, double>& values) {
    for (const auto& [name, value] : values) {
      if (!std::isfinite(value)) throw Error(fmt::format("{}.{} is {}", split, name, value));
      by_split_[split][name] = value;
    }
  }

  std::string split_;
  std::map<std::string, std::map<std::string, double>> by_split_;
  std::int64_t step_ = 0;
};

/// The run as the second command sees it.
RunConfiguration changed_run(RunConfiguration run, const WantedEvaluation& wanted) {
  ProgramOptions& program = *run.program;
  program.command = wanted.program.at("command").get<std::vector<std::string>>();
  program.flags = ProgramOptions::Flags::kNone;
  if (wanted.program.contains("metrics")) program.metrics = wanted.program["metrics"];
  for (const auto& [key, value] : wanted.changes) {
    if (key == "data.path") run.data.path = value.get<std::string>();
    if (key.starts_with("options.")) program.set_option(key.substr(std::string_view("options.").size()), value);
  }
  return run;
}

/// Data that have changed since they were asked for would be measured under the name of the old ones.
void check_wanted_data(const Run& run, const RunConfiguration& changed, const WantedEvaluation& wanted) {
  if (changed.data.path.empty()) return;
  std::string expected = run.environment.value("fingerprint", "");
  for (const auto& [key, value] : wanted.changes) {
    if (key == "data.fingerprint") expected = value.get<std::string>();
  }
  if (summarize_any_data(changed.data.path).fingerprint == expected) return;
  throw DataError(
      fmt::format("the data in {} have changed since the evaluation was asked for\n"
                  "restore them, or run the sweep again",
                  changed.data.path));
}

class ProgramEvaluations {
 public:
  ProgramEvaluations(const Run& run, const RunConfiguration& configuration, std::int64_t threads, JournalSink& sink)
      : run_(run),
        configuration_(configuration),
        threads_(threads),
        sink_(sink),
        folder_(fs::absolute(run.folder).lexically_normal()),
        programs_(frozen_programs(folder_.parent_path())) {}

  EvaluationsReport make_all() {
    const auto make = [this](const WantedEvaluation& wanted) { this->make(wanted); };
    EvaluationsReport report = make_missing_evaluations(run_, sink_, make);
    const fs::path work = ProgramPaths{folder_}.work();
    take_code(programs_, code(), work);
    for (const WantedEvaluation& wanted : run_.wanted) {
      if (const std::string own = own_code(wanted); !own.empty()) take_code(programs_, own, work);
    }
    return report;
  }

 private:
  const std::string& code() const { return run_.contents.at("program.folder"); }

  /// Of files that only the evaluation uses; "" for none.
  static std::string own_code(const WantedEvaluation& wanted) {
    return wanted.program.is_null() ? "" : evaluation_code(wanted.program);
  }

  void make(const WantedEvaluation& wanted) {
    if (wanted.program.is_null()) throw UsageError("only a command can evaluate a program: add it to `evaluate`");
    if (missing_evaluations(read_run(run_.folder), {wanted}).empty()) return;  // reported with another split
    const RunConfiguration changed = changed_run(configuration_, wanted);
    check_wanted_data(run_, changed, wanted);
    const Json settings = settings_by_program(wanted);
    const std::string name = sha256(wanted.split + settings.dump()).substr(0, kFolderDigits);
    const ProgramPaths paths{.folder = folder_, .reports = folder_ / "evaluations" / name};
    fs::remove_all(paths.reports);  // what an attempt at it has left
    create_folders(paths.reports);
    put_code(programs_, code(), paths.work());
    if (const std::string own = own_code(wanted); !own.empty()) put_code(programs_, own, paths.work());
    write_file(paths.config(), json_text(to_json(resolved(changed))));
    const double began = monotonic_seconds();
    std::string doubt;
    const auto reported = run_command(changed, paths, wanted.split, doubt);
    const double seconds = monotonic_seconds() - began;
    sink_.check_owner();
    for (const auto& [split, values] : reported) {
      Evaluation evaluation = as_evaluation({.split = split, .values = values});
      if (split == wanted.split) evaluation.seconds = seconds;  // once, however many splits the command reports
      record_evaluation(run_, settings, evaluation, doubt);
      sink_.log(fmt::format("{}  {}", shown({split, wanted.changes, wanted.program}), evaluation_text(evaluation)));
    }
  }

  /// What it reports, by split. `doubt`: what may have changed it.
  std::map<std::string, std::map<std::string, double>> run_command(const RunConfiguration& changed,
                                                                   const ProgramPaths& paths, const std::string& split,
                                                                   std::string& doubt) {
    const ProgramOptions& program = *changed.program;
    ProgramSetting setting = evaluation_setting(changed, paths, threads_, split);
    OutsideCode outside(run_, paths, sink_);
    outside.begin(program.folder, setting);
    ReportedEvaluations reported(split);
    MetricReaders readers(described_metrics(program, setting.places, paths.work()), paths.metrics(), reported);
    readers.begin(Json());
    ProgramProcess process(command_of(setting, program, paths, [&](std::string_view bytes) { readers.output(bytes); }));
    double next_check = 0;
    while (process.poll(kBetweenEvaluationPolls)) {
      readers.poll();
      if (const double now = monotonic_seconds(); now >= next_check) {
        next_check = now + kBetweenOwnerChecks;
        sink_.check_owner();
        outside.look();
      }
      if (sink_.should_stop()) process.stop();
    }
    const ProgramEnd& end = process.end();
    outside.look();
    if (end.stopped) throw EvaluationStopped();
    if (!end.is_success()) throw Error(reason_with_output(end));
    readers.poll();
    readers.finish(true);
    if (!reported.by_split().contains(split)) throw_nothing_reported(split, readers, end);
    for (const std::string& warning : readers.warnings()) sink_.message("warning: " + warning);
    std::vector<std::string> doubts = readers.doubts();
    const std::int64_t ended = reported.step() > 0 ? read_run(run_.folder).step : 0;
    if (reported.step() != ended) {
      doubts.push_back(fmt::format("it says step {}, and the run ended at {}", reported.step(), ended));
    }
    if (!doubts.empty()) {
      const auto script = std::ranges::find_if(program.command, looks_like_code);
      const std::string& name = script != program.command.end() ? *script : program.command.front();
      doubt = fmt::format("{}: {}", fs::path(name).filename().string(), first_line(doubts.front()));
    }
    return reported.by_split();
  }

  [[noreturn]] static void throw_nothing_reported(const std::string& split, const MetricReaders& readers,
                                                  const ProgramEnd& end) {
    std::string message = fmt::format(
        "it reported no number of the split {}\n"
        "let it write NAME or {}.NAME, or add a pattern to `metrics` of evaluate",
        split, split);
    for (const std::string& warning : readers.warnings()) message += "\n" + warning;
    if (readers.warnings().empty()) message += "\nits last lines:\n" + std::string(trim(end.last_lines));
    throw DataError(message);
  }

  static constexpr std::size_t kFolderDigits = 16;

  const Run& run_;
  const RunConfiguration& configuration_;
  std::int64_t threads_;
  JournalSink& sink_;
  fs::path folder_;    // absolute
  fs::path programs_;  // where the code is
};

}  // namespace

EvaluationsReport make_program_evaluations(const Run& run, const RunConfiguration& configuration, std::int64_t threads,
                                           JournalSink& sink) {
  return ProgramEvaluations(run, configuration, threads, sink).make_all();
}

}  // namespace xlm
