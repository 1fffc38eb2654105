// xlm try: whether a change is a gain.
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/stop.h"
#include "base/text.h"
#include "cmd/claims_record.h"
#include "cmd/docs_pages.h"
#include "cmd/results_store.h"
#include "cmd/trust.h"
#include "cmd/try_text.h"
#include "cmd/try_trial.h"
#include "experiments/configuration/configuration.h"
#include "experiments/launchers/launcher.h"
#include "experiments/runs/model_locator.h"
#include "experiments/runs/runs_in_use.h"
#include "experiments/runs/submission.h"
#include "experiments/sweeps/try_budget.h"
#include "experiments/sweeps/try_line.h"
#include "experiments/sweeps/try_side.h"
#include "results/judgement/limits.h"
#include "results/judgement/verdict.h"
#include "results/quantities/number_format.h"
#include "results/run_folder/registration.h"
#include "results/store/directions.h"
#include "results/store/selection.h"

namespace xlm {
namespace {

/// docs/agents.md as a skill file: a head with a name and a description, and the page.
std::string skill_file() {
  return fmt::format("---\nname: xlm-try\ndescription: \"{}\"\n---\n{}",
                     "Try a change to a model or a training program with xlm, and learn whether it is a gain: keep, "
                     "discard, undecided or broken.",
                     docs_pages().at("agents"));
}

constexpr const char* kBest = "best";

/// The file of a sweep is one setting here: what is above its grid.
std::string note_on_sweep(const std::string& text) {
  if (!fs::is_regular_file(text) || read_yaml(text).find("sweep") == nullptr) return "";
  return fmt::format(
      "\n{} describes a sweep, of which a try takes what is outside of `sweep:`; write the change into a "
      "separate file, or name a run of the sweep (xlm runs ls)",
      text);
}

Recipe side_of(const std::string& text, const TryCommand& command, const GlobalOptions& global) {
  Yaml tree;
  if (fs::is_regular_file(text)) {
    tree = read_configuration(text, command.profile, command.overrides);
    check_file_of_run(text, tree);
  } else {
    const std::optional<fs::path> folder = run_folder_of(text, global.runs);
    if (!folder) throw UsageError(fmt::format("{} is a model alone, and no run", text));
    tree = configuration_of_run(*folder, command.overrides);
    check_file_of_run(RunPaths{*folder}.config(), tree);
  }
  // A line's test is opened once, at its end. A program measures what it likes.
  const bool is_model = tree.find("program") == nullptr;
  if (!command.line.empty() && is_model) tree.set(kSealedKey, make_scalar("test", text));
  return recipe_of(run_part(std::move(tree)));
}

/// What a change is tried against: the best of the line, if nothing else is named. A try that is not at its end goes on
/// against what was the best when it began.
std::string base_of(const TryCommand& command, const std::string& change, const GlobalOptions& global) {
  if (!command.base.empty() && command.base != kBest) return command.base;
  if (command.line.empty()) {
    throw UsageError("what is the change tried against? name a file or a run with --against, or a --line" +
                     note_on_sweep(command.change));
  }
  const TryLine line(global.runs, command.line);
  if (line.best().empty()) {
    throw UsageError(
        fmt::format("the line {} has no best yet\nname what its first try is against: --against FILE", command.line));
  }
  for (const TryRecord& tried : line.tries()) {
    const TryQuestion same{change, tried.base(), command.value, command.min_gain, command.seeds, command.noise};
    if (tried.outcome.is_null() && tried.question == same.json()) return tried.base();
  }
  if (!fs::exists(global.runs / line.best())) {
    throw DataError(
        fmt::format("{}, the best of the line {}, is not here: merge its runs, or name another with --against",
                    line.best(), command.line));
  }
  return line.best();
}

/// A single try has a separate line, which lists do not show.
std::string line_of(const TryCommand& command, const TryQuestion& question) {
  constexpr std::size_t kDigits = 12;
  if (!command.line.empty()) return command.line;
  return std::string(kSingleTry) + sha256(question.json().dump()).substr(0, kDigits);
}

SweepRun first_run(const Recipe& side, const GlobalOptions& global) {
  return runs_with_seeds(side, {1}, global.runs, choose_in_store(global)).front();
}

/// From now on a program's code is that of the side's first run, whatever becomes of the file and its folder. What the
/// file says of directions holds: they are no part of a run.
void freeze(Recipe& side, const SweepRun& first, const TryCommand& command, const GlobalOptions& global) {
  submit(first.planned);
  if (!first.planned.inputs.code) return;
  Yaml better = side.run.find("program")->take("better");
  side = side_of(first.id(), command, global);
  Yaml* program = side.run.find("program");
  program->take("better");
  if (!better.is_null()) program->set("better", std::move(better));
}

/// A column that no run has is a mistake if one of the sides is done.
void check_value(const std::string& value, const TryQuestion& question, const GlobalOptions& global) {
  if (!fs::exists(global.runs)) return;
  RunTable runs = open_runs(global);
  for (const std::string& id : {question.change, question.base}) {
    const std::optional<std::size_t> row = runs.row_of(id);
    if (row && to_text(runs.column("status")[*row]) == name_of(RunStatus::kDone)) runs.column(value);
  }
}

/// Runs of a try stand in the tables of their experiment.
void note_experiment(const std::string& experiment, const GlobalOptions& global) {
  if (global.quiet || !fs::exists(global.runs)) return;
  RunTable runs = open_runs(global);
  if (runs.select({{"experiment", Filter::Relation::kEqual, {Value(experiment)}}}).empty()) return;
  say(fmt::format(
      "note: the runs of this try belong to the experiment {} and show in its tables; experiment=NAME separates them\n",
      experiment));
}

/// The try of a line that answered this question by making its change the best, against which it is asked again.
std::optional<TryRecord> kept_before(const TryCommand& command, const GlobalOptions& global,
                                     const TryQuestion& question) {
  if (command.line.empty()) return std::nullopt;
  const TryLine line(global.runs, command.line);
  for (const bool moved_best : {true, false}) {
    for (const TryRecord& tried : line.tries()) {
      if (tried.change() != question.change || !tried.is_kept() || tried.moved_best != moved_best) continue;
      TryQuestion then = question;
      then.base = tried.base();
      if (tried.question == then.json()) return tried;
      throw UsageError(fmt::format(
          "{} is the best of the line {} already: try {} kept it by another question\nname what it is tried "
          "against: --against FILE",
          question.change, command.line, tried.number));
    }
  }
  return std::nullopt;
}

/// `is_repeated`: the answer was there, and its cost was paid then.
int report(const Json& outcome, const TryCommand& command, const TryRecord& record, const GlobalOptions& global,
           bool is_repeated) {
  Json shown = outcome;
  if (is_repeated) shown["repeated"] = true;
  const bool is_aside = !command.line.empty() && record.is_kept() && !record.moved_best;
  if (record.is_kept()) shown["is_best"] = !is_aside;
  if (is_aside) {
    shown["reason"] = "what it was tried against is not the best of the line: try it against that";
  }
  if (!global.json) {
    print(outcome_text(shown));
    return code_of_outcome(outcome);
  }
  shown["folder"] = global.runs.string();
  if (command.all) {
    std::set<std::string> all = record.runs;
    all.insert({record.change(), record.base()});
    shown["runs"] = all;
  }
  print(outcome_json(shown));
  return code_of_outcome(outcome);
}

int run_try(const TryCommand& command, const GlobalOptions& global) {
  // What follows complains before anything is written.
  find_launcher(command.launcher);
  [[maybe_unused]] const TryBudget of_try(command.spend, "--spend");
  [[maybe_unused]] const TryBudget of_line(command.spend_line, "--spend-line");
  if (!command.line.empty() && is_of_test(command.value)) {
    throw UsageError("a line does not choose by a test: try by valid.…, and measure its test at the end with --close");
  }
  Recipe change = side_of(command.change, command, global);
  const SweepRun of_change = first_run(change, global);
  Recipe base = side_of(base_of(command, of_change.id(), global), command, global);
  const SweepRun of_base = first_run(base, global);
  TryQuestion question{of_change.id(), of_base.id(), command.value, command.min_gain, command.seeds, command.noise};
  if (question.change == question.base) {
    if (const std::optional<TryRecord> kept = kept_before(command, global, question)) {
      return report(kept->outcome, command, *kept, global, true);
    }
    throw UsageError(fmt::format("{} changes nothing: both sides are the run {}{}", command.change, question.base,
                                 note_on_sweep(command.change)));
  }
  check_value(command.value, question, global);
  const std::vector<std::string> differ_in = what_changes(of_change.planned, of_base.planned);
  if (const std::string note = note_on_sweep(command.change); !note.empty()) spdlog::warn("{}", trim(note));
  install_stop_handlers();
  create_folders(global.runs);
  const RunsInUse in_use(global.runs, RunsInUse::By::kSweep);
  TryLine line(global.runs, line_of(command, question));
  TryRecord record = line.begin(question, command.note, differ_in);
  if (command.retry && record.outcome.is_object() && record.outcome.value("verdict", "") == "broken") {
    record = line.ask_again(record.number);
  }
  const bool is_answered = !record.outcome.is_null();
  if (!is_answered) {
    if (record.number == 1 && record.runs.empty()) note_experiment(change.experiment, global);
    freeze(change, of_change, command, global);
    freeze(base, of_base, command, global);
    const TryEnd end = run_trial(command, global, change, base, line, record);
    if (!end.is_final) return report(end.outcome, command, record, global, false);
    record = line.end(record.number, end.outcome);
  }
  return report(record.outcome, command, record, global, is_answered);
}

using RunBySeed = std::map<std::string, std::size_t>;  // rows of a RunTable

/// The runs that are done of the setting that a run has.
RunBySeed runs_of_setting(RunTable& runs, const std::string& id) {
  const std::optional<std::size_t> first = runs.row_of(id);
  if (!first) throw DataError(fmt::format("the run {} of the line is gone", id));
  const Value& setting = runs.column("seed_group")[*first];
  RunBySeed found;
  for (std::size_t row = 0; row < runs.size(); ++row) {
    const bool is_done = to_text(runs.column("status")[row]) == name_of(RunStatus::kDone);
    if (is_done && same_value(runs.column("seed_group")[row], setting)) found[to_text(runs.column("seed")[row])] = row;
  }
  return found;
}

struct ClosingPairs {
  std::vector<std::string> best;
  std::vector<std::string> base;
};

ClosingPairs pairs_of(RunTable& runs, const std::string& best, const std::string& base) {
  const RunBySeed of_best = runs_of_setting(runs, best);
  const RunBySeed of_base = runs_of_setting(runs, base);
  ClosingPairs pairs;
  for (const auto& [seed, row] : of_best) {
    const auto partner = of_base.find(seed);
    if (partner == of_base.end()) continue;
    pairs.best.push_back(runs.id(row));
    pairs.base.push_back(runs.id(partner->second));
  }
  if (pairs.best.size() < 2) throw DataError("the line's best and its first base have no two seeds in common");
  return pairs;
}

std::vector<double> numbers_in(RunTable& runs, const std::vector<std::string>& ids, const std::string& value,
                               AskedRows& rows) {
  const std::vector<Value>& column = runs.column(value);
  std::vector<double> numbers;
  for (const std::string& id : ids) {
    const std::optional<std::size_t> row = runs.row_of(id);
    const std::optional<double> number = row ? as_number(column[*row]) : std::nullopt;
    if (!number)
      throw DataError(fmt::format(
          "{} has no {}\nname what it has with --value; a program prints its test itself, in runs of the line", id,
          value));
    numbers.push_back(*number);
    rows.push_back(*row);
  }
  return numbers;
}

std::string value_of_test(const TryLine& line, const std::string& asked) {
  constexpr std::string_view kValid = "valid.";
  if (!asked.empty()) return asked;
  const std::string value = line.tries().front().question.value("value", "");
  if (value.starts_with(kValid)) return "test." + value.substr(kValid.size());
  throw UsageError(fmt::format("the line chose by {}: name its test with --value", value));
}

/// A test that cannot be measured is said before the line is closed for it. A program has measured it; of a model it is
/// known by what it measures on validation.
void check_test(RunTable& runs, const ClosingPairs& pairs, const std::string& value) {
  constexpr std::string_view kTest = "test.";
  if (!value.starts_with(kTest)) {
    throw UsageError(fmt::format("--close measures a test, and {} is none: --value test.loss", value));
  }
  if (is_missing(runs.column_or_nothing("program.name")[*runs.row_of(pairs.best.front())])) {
    runs.column("valid." + value.substr(kTest.size()));
    return;
  }
  AskedRows rows;
  for (const std::vector<std::string>* side : {&pairs.best, &pairs.base}) numbers_in(runs, *side, value, rows);
}

Json measured(TryLine& line, const std::string& value, const GlobalOptions& global) {
  const std::string base = line.first_base();
  const std::string best = line.best();
  ClosingPairs pairs;
  {
    RunTable runs = open_runs(global);
    pairs = pairs_of(runs, best, base);
    check_test(runs, pairs, value);
  }
  std::vector<Run> both;
  for (const std::vector<std::string>* side : {&pairs.best, &pairs.base}) {
    for (const std::string& id : *side) both.push_back(read_run(global.runs / id));
  }
  line.begin_closing();
  if (line.best() != best) throw Error("the best of the line has just moved; the same command closes it");
  open_test_of(both, Json{{"line", line.name()}}, global);
  RunTable runs = open_runs(global);
  AskedRows rows;
  const std::vector<double> after = numbers_in(runs, pairs.best, value, rows);
  const std::vector<double> before = numbers_in(runs, pairs.base, value, rows);
  const Better better = needed_direction(runs, rows, value, "try", "declare it in the file: program.better");
  const Estimate gain =
      better == Better::kLower ? difference_of_pairs(before, after) : difference_of_pairs(after, before);
  const LimitsTest test = test_limits(gain, {.high = 0});
  Json outcome = {{"line", line.name()}, {"best", best},       {"base", base},
                  {"value", value},      {"gain", gain.value}, {"pairs", gain.seeds}};
  add_interval(outcome, gain.value, test);
  return outcome;
}

/// Measures the test of the line's best and of what its first try was against, on the seeds that both have, prints how
/// much better the best is, and records it: the line takes no further try. A line that is closed prints what it has.
/// `value`: column of the test; empty: that of the line's tries, of test in place of valid. Throws DataError.
int close_line(const std::string& name, const std::string& value, const GlobalOptions& global) {
  if (name.empty()) throw UsageError("which line is closed? name it with --line");
  TryLine line(global.runs, name);
  if (!line.exists()) throw DataError(fmt::format("there is no line '{}'", name));
  if (line.closing().is_null()) {
    if (line.best() == line.first_base()) {
      throw DataError(fmt::format("no try of the line {} was kept: there is nothing to measure its test for", name));
    }
    line.close(measured(line, value_of_test(line, value), global));
  }
  print(global.json ? line.closing().dump() + "\n" : closing_text(line.closing()));
  return kDone;
}

}  // namespace

std::function<int()> declare_try(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<TryCommand>();
  app.add_option("change", command->change, "Configuration of a run with the change, or a run")->type_name("CHANGE");
  app.add_option("overrides", command->overrides, "Values that override both sides: train.steps=1000")
      ->type_name("KEY=VALUE");
  app.add_option("--against", command->base,
                 "What it is tried against: a configuration, a run, or best, that of the line")
      ->type_name("BASE");
  const CLI::Option* value =
      app.add_option("--value", command->value, "Column that should get better")->capture_default_str();
  app.add_option("--min-gain", command->min_gain, "A gain must be larger than this")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--seeds", command->seeds, "Pairs of a screen, and fresh pairs of a confirmation")
      ->capture_default_str()
      ->check(CLI::Range(2, 1000));
  app.add_option("--noise", command->noise,
                 "Runs of the base that show how much seeds differ, so that a screen may stop after its first pair")
      ->check(CLI::Range(2, 1000));
  app.add_option("--spend", command->spend, "What the try may cost: 20min, 8runs, 1e15flops, 5e6tokens");
  app.add_option("--spend-line", command->spend_line, "What the whole line may cost");
  app.add_option("--line", command->line, "Line of tries, whose errors are controlled together")->type_name("NAME");
  app.add_option("--note", command->note, "Why it is tried, for the line's log");
  app.add_option("--profile", command->profile, "Profile of the files to apply")->type_name("NAME");
  app.add_option("--launcher", command->launcher, "How to start workers (see xlm sweep)")->capture_default_str();
  app.add_option("--jobs", command->jobs, "Runs at once")->check(CLI::Range(1, 4096))->type_name("N");
  app.add_option("--site", command->site, "How to submit jobs on this cluster")->type_name("FILE");
  app.add_flag("--all", command->all, "With --json: ids of its runs, too");
  app.add_flag("--retry", command->retry, "Ask again about a change that was broken by something outside it");
  app.add_flag("--close", command->closes,
               "Measure the test of the line's best and of its first base, once: the line takes no further try");
  app.add_flag("--print-skill", command->print_skill, "Print the page for agents as a skill file");
  app.footer(
      "Exit code: 0 keep, 10 discard, 11 undecided, 12 broken; 75 stopped: the same command goes on.\n"
      "How it decides: docs/agents.md, and docs/judging.md\n\n"
      "Examples:\n"
      "  xlm try change.yaml --against base.yaml --value valid.loss --min-gain 0.01 --seeds 5 --noise 5\n"
      "  xlm try change.yaml --line night --note 'wider' --spend 20min --json\n"
      "  xlm try --close --line night\n"
      "  xlm runs log --line night");
  return [command, value, &global] {
    if (command->print_skill) {
      print(skill_file());
      return static_cast<int>(kDone);
    }
    if (command->closes) return close_line(command->line, value->count() > 0 ? command->value : "", global);
    if (command->change.empty()) throw UsageError("a change is needed: xlm try CHANGE.yaml --against BASE");
    return run_try(*command, global);
  };
}

}  // namespace xlm
