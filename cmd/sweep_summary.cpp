// What `xlm sweep` says at the end.
#include "cmd/sweep_summary.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

#include "base/error.h"
#include "base/text.h"
#include "cmd/best_settings.h"
#include "cmd/results_store.h"
#include "cmd/run_results.h"
#include "cmd/search_view.h"
#include "cmd/sweep_table.h"
#include "experiments/runs/live_run.h"
#include "results/judgement/verdict.h"
#include "results/quantities/quantities.h"
#include "results/store/shown_runs.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

std::string last_line(const fs::path& log) {
  try {
    const MappedFile file(log);
    const std::string_view text = trim(file.text());
    return std::string(text.substr(text.rfind('\n') + 1));  // npos + 1 is the beginning
  } catch (const Error&) {
    return "";
  }
}

/// A run as it is now. A run that was removed or damaged in the meantime has failed.
Run run_as_it_is(const fs::path& folder) {
  try {
    return read_live_run(folder);
  } catch (const DataError& error) {
    Run lost;
    lost.folder = folder;
    lost.id = folder.filename().string();
    lost.status = RunStatus::kFailed;
    lost.reason = fs::exists(folder) ? error.what() : "its folder was moved or removed";
    return lost;
  }
}

class SweepSummary {
 public:
  SweepSummary(EndedSweep sweep, const SweepCommand& command, const GlobalOptions& global)
      : planned_(std::move(sweep.runs)),
        search_(std::move(sweep.search)),
        report_(std::move(sweep.report)),
        command_(command),
        context_(global),
        has_tables_(sweep.has_tables) {
    for (SweepRun& run : planned_) {
      look_at(run, false);
      runs_.push_back(run_as_it_is(run.planned.paths.folder));
      if (is_failure(runs_.back())) ++failed_;
      if (runs_.back().status == RunStatus::kPruned) continue;  // its requested evaluations are dropped
      evaluations_ += run.evaluations.size();
      evaluations_left_ += run.evaluations_left;
    }
    measure_ = find_measure();
  }

  int code() const {
    if (report_.interrupted) return kStopped;
    if (failed_ > 0) return kFailed;
    const bool all = count(RunStatus::kDone) + count(RunStatus::kPruned) == std::ssize(runs_);
    return all && evaluations_left_ == 0 ? kDone : kStopped;
  }

  std::string json() const {
    Json list = Json::array();
    for (const Run& run : runs_) {
      Json entry = run_json(run);
      const auto ended = report_.ended.find(run.id);
      if (ended != report_.ended.end()) entry["reason"] = ended->second;
      if (evaluations_ > 0) entry["evaluations_left"] = planned_[list.size()].evaluations_left;
      list.push_back(std::move(entry));
    }
    return json_text(list);
  }

  std::string text(const Terminal& terminal) const {
    const auto cells = [&](std::size_t i) {
      return std::vector<std::string>{
          result(runs_[i], "valid"), result(runs_[i], "test"),
          fmt::format("{}{}", name_of(runs_[i].status), is_warning(runs_[i].reason) ? ", warning" : "")};
    };
    const std::string& measure = measure_.label;
    std::string text =
        table_of_sweep(planned_, {{"valid " + measure, true}, {"test " + measure, true}, {"status"}}, cells, terminal);
    text += fmt::format("\n{} of {} runs done", count(RunStatus::kDone), runs_.size());
    if (evaluations_ > 0) {
      text += fmt::format(", {} of {} evaluations", evaluations_ - evaluations_left_, evaluations_);
    }
    const std::ptrdiff_t diverged = count(RunStatus::kDiverged);
    if (const auto pruned = count(RunStatus::kPruned); pruned > 0) text += fmt::format(", {} pruned", pruned);
    if (failed_ > diverged) text += fmt::format(", {} failed", failed_ - diverged);
    if (diverged > 0) text += fmt::format(", {} diverged", diverged);
    text += "\n" + failures() + warnings() + older_code();
    if (search_) text += search_result(*search_, planned_);
    return text + next_steps();
  }

 private:
  bool is_failure(const Run& run) const {
    return run.status == RunStatus::kFailed || run.status == RunStatus::kDiverged || report_.ended.count(run.id) > 0;
  }

  std::ptrdiff_t count(RunStatus status) const { return std::ranges::count(runs_, status, &Run::status); }

  std::string result(const Run& run, const std::string& split) const {
    const RunEvaluation* evaluation = main_evaluation(run, split);
    if (evaluation == nullptr) return "";
    const std::map<std::string, double> numbers = evaluation->numbers();
    const auto value = numbers.find(measure_.name);
    return value == numbers.end() ? "" : list_number(measure_, value->second);
  }

  /// The headline of all runs together, as papers report such models. Runs without one are shown by a quantity of
  /// `program.better`.
  Quantity find_measure() const {
    const auto any_has = [&](const std::string& name) {
      return std::ranges::any_of(runs_, [&](const Run& run) {
        const RunEvaluation* evaluation = main_evaluation(run, "valid");
        if (evaluation == nullptr) evaluation = main_evaluation(run, "test");
        return evaluation != nullptr && evaluation->numbers().contains(name);
      });
    };
    if (const Quantity* found = headline_of(any_has)) return *found;
    for (const SweepRun& run : planned_) {
      const auto& program = run.planned.options.program;
      if (!program) continue;
      for (const auto& [name, better] : program->better) {
        if (!any_has(name)) continue;
        Quantity declared = quantity(name);
        declared.better = better == kBetterNames[1] ? Better::kHigher : Better::kLower;
        return declared;
      }
    }
    return *headlines().back();
  }

  /// Each reason once, with the first run that has it.
  std::string failures() const {
    std::map<std::string, std::vector<std::string>> failed_alike;  // runs by their reason
    std::vector<std::pair<std::string, const std::vector<std::string>*>> told;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (!is_failure(runs_[i])) continue;
      const auto ended = report_.ended.find(runs_[i].id);
      const fs::path log = planned_[i].planned.paths.log();
      const std::string last = last_line(log);
      std::string why = ended != report_.ended.end() ? ended->second : runs_[i].reason;
      if (ended != report_.ended.end() && !last.empty()) why += ": " + last;
      std::string what = fmt::format("{}: {}\n", name_of(runs_[i].status), why);
      if (!last.empty()) what += fmt::format("  see {}\n", log.string());
      // Runs that failed alike name their own folders.
      std::vector<std::string>& alike = failed_alike[boost::replace_all_copy(what, runs_[i].id, "")];
      if (alike.empty()) told.emplace_back(what, &alike);
      alike.push_back(runs_[i].id);
    }
    std::string text;
    for (const auto& [what, runs] : told) {
      const std::string others = runs->size() == 1 ? "" : " and " + counted(runs->size() - 1, "other run");
      text += fmt::format("{}{} {}", runs->front(), others, what);
    }
    return text;
  }

  std::string warnings() const {
    std::string text;
    std::size_t otherwise = 0;
    std::set<std::string> unfrozen;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (is_warning(runs_[i].reason) && !is_failure(runs_[i])) {
        text += fmt::format("{}: {}\n", runs_[i].id, runs_[i].reason);
      }
      const auto& program = planned_[i].planned.options.program;
      if (const Json* files = runs_[i].param(kNotFrozen)) unfrozen.insert(files->get<std::string>());
      const Json* read = runs_[i].param(kMetricsParam);
      if (program && runs_[i].status == RunStatus::kDone && read != nullptr && *read != program->metrics) ++otherwise;
    }
    if (otherwise > 0) {
      text += fmt::format(
          "warning: the numbers of {} were read by other `metrics` than those of the file now; read them again with: "
          "xlm runs reread {}\n",
          counted(otherwise, "run"), shell_word(command_.file.string()));
    }
    if (!unfrozen.empty()) {
      text += fmt::format("warning: code not frozen: {}; see docs/programs.md\n",
                          listed_names({unfrozen.begin(), unfrozen.end()}, 3));
    }
    for (const std::string& option : options_that_change_nothing(planned_, varied_keys(planned_), runs_)) {
      text += fmt::format(
          "warning: {} changes no evaluation: it does not seem to reach the program, or changes only its speed\n",
          option);
      const bool is_flag = std::ranges::all_of(planned_, [&](const SweepRun& run) {
        const std::string value = shown_value(run.point, option);
        return value == "true" || value == "false";
      });
      if (!is_flag) continue;
      text += fmt::format(
          "  argparse's type=bool takes the text false for true; its BooleanOptionalAction takes --no-{}, as "
          "`flags: negated` passes it\n",
          option.substr(std::string_view("options.").size()));
    }
    if (!seeds_change_nothing(planned_, runs_)) return text;
    return text + fmt::format("warning: {}\n", kSeedsSayNothing) +
           "  it is {seed} in program.command, and XLM_SEED; runs that do not differ by chance say nothing about "
           "chance\n";
  }

  /// Tables show the newest version of a program's code, of which these runs are not once an edit was taken back.
  std::string older_code() const {
    const Json* version = runs_.empty() || code() != kDone ? nullptr : runs_.front().param(kProgramFingerprint);
    if (version == nullptr) return "";
    std::size_t older = 0;
    try {
      RunTable table = open_runs(context_);
      std::set<std::string> own;
      for (const Run& run : runs_) own.insert(run.id);
      const std::string& experiment = planned_.front().planned.options.experiment;
      const std::vector<Filter> filters{{"experiment", Filter::Relation::kEqual, {Value(experiment)}}};
      std::vector<std::size_t> rows = table.select(filters);
      std::erase_if(rows, [&](std::size_t row) { return !own.contains(table.id(row)); });
      older = shown_among(table, rows, filters).left_out.older.size();
    } catch (const Error&) {
      return "";  // tables say what is wrong with the store
    }
    if (older == 0) return "";
    return fmt::format(
        "warning: {} of these runs {} made before those of another version of the program's code, which tables, claims "
        "and compare show; they show these with --where {}={}\n",
        older, older == 1 ? "was" : "were", kProgramFingerprint, version->get<std::string>());
  }

  bool fails_in_last_round() const {
    std::int64_t last = 0;
    for (const SweepRun& run : planned_) last = std::max(last, run.round);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (planned_[i].round == last && is_failure(runs_[i])) return true;
    }
    return false;
  }

  std::string next_steps() const {
    if (report_.interrupted && command_.wait)
      return "the workers continue; run the same command again to wait for them\n";
    if (code() == kStopped) return "stopped; run the same command again to resume\n";
    if (failed_ > 0) {
      if (!search_) return "run the same command again to retry the failed runs (diverged ones only with --retry)\n";
      return fails_in_last_round() ? "run the same command again to retry the failed runs of the last round\n"
                                   : "trials that failed in earlier rounds count as the worst, as later rounds "
                                     "were chosen by that\n";
    }
    std::string text = search_ ? "" : best_settings(planned_, varied_keys(planned_), runs_, measure_);
    if (!has_tables_ || !fs::is_regular_file(command_.file)) return text;  // a pipe cannot be read again
    text += "next: xlm table " + shell_word(command_.file.string());
    if (!command_.profile.empty()) text += " --profile " + shell_word(command_.profile);
    for (const std::string& assignment : command_.overrides) {
      if (assignment.starts_with("experiment=")) text += " " + shell_word("--" + assignment);
    }
    if (context_.runs != GlobalOptions().runs) text += " --runs " + shell_word(context_.runs.string());
    return text + "\n";
  }

  std::vector<SweepRun> planned_;
  std::optional<Search> search_;
  LaunchReport report_;
  const SweepCommand& command_;
  const GlobalOptions& context_;
  Quantity measure_;
  bool has_tables_;
  std::vector<Run> runs_;
  std::ptrdiff_t failed_ = 0;  // or diverged
  std::size_t evaluations_ = 0;
  std::size_t evaluations_left_ = 0;
};

}  // namespace

int print_summary(EndedSweep sweep, const SweepCommand& command, const GlobalOptions& global) {
  const bool was_interrupted = sweep.report.interrupted;
  const SweepSummary summary(std::move(sweep), command, global);
  try {
    print(global.json ? summary.json() : summary.text(global.standard_output));
  } catch (const Error&) {
    if (!was_interrupted) throw;  // a terminal that closed was the request to stop, and gets no answer
  }
  return summary.code();
}

}  // namespace xlm
