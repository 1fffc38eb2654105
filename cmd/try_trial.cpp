// One try from its first pair of runs to its verdict.
#include "cmd/try_trial.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "cmd/sweep_dry_run.h"
#include "cmd/sweep_launch.h"
#include "experiments/launchers/launcher.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/submission.h"
#include "experiments/sweeps/try_budget.h"
#include "experiments/sweeps/try_equality.h"
#include "experiments/sweeps/try_side.h"
#include "results/judgement/screen.h"
#include "results/judgement/verdict.h"
#include "results/quantities/number_format.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/journal.h"
#include "results/store/directions.h"

namespace xlm {
namespace {

constexpr double kBetweenLooks = 2;  // seconds, at what running runs have cost

/// Whether something from outside ended the last attempt at a run, and has not done so again and again: the same run
/// may well come to its end.
bool may_go_on(const Run& run) {
  constexpr std::int64_t kMaxEnds = 3;
  const auto is_from_outside = [](const RunState& state) {
    return state.cause == name_of(EndCause::kKilled) || state.cause == name_of(EndCause::kGone) ||
           state.cause == name_of(EndCause::kNode) || state.cause == name_of(EndCause::kTime);
  };
  const auto begun = std::ranges::count_if(
      run.history, [](const RunState& state) { return state.state == name_of(RunStatus::kRunning); });
  const auto ended = std::ranges::count_if(run.history, is_from_outside);
  const bool is_over = run.status == RunStatus::kFailed || run.status == RunStatus::kDiverged;
  const bool is_open = !is_over || (!run.history.empty() && is_from_outside(run.history.back()));
  return is_open && (run.status == RunStatus::kPreempted || std::max(begun, ended) < kMaxEnds);
}

bool are_equal(const std::vector<double>& numbers) {
  return std::ranges::adjacent_find(numbers, std::not_equal_to<>()) == numbers.end();
}

std::string points_of_chance(double chance) {
  return chance < 0.01 ? "below 1 %" : fmt::format("{:.0f} %", 100 * chance);
}

class Trial {
 public:
  Trial(const TryCommand& command, GlobalOptions global, const Recipe& change, const Recipe& base, TryLine& line,
        TryRecord record)
      : command_(command),
        quiet_(std::move(global)),
        change_(change),
        base_(base),
        line_(line),
        record_(std::move(record)),
        budget_(command.spend, "--spend"),
        line_budget_(command.spend_line, "--spend-line"),
        plan_{.min_gain = command.min_gain, .seeds = command.seeds, .noise = {}} {
    quiet_.quiet = quiet_.quiet || !quiet_.standard_error.is_terminal;
  }

  TryEnd run() {
    try {
      if (command_.noise > 0) measure_noise();
      screen();
      confirm();
    } catch (const Stop& stop) {
      return stop.end;
    }
    return {};  // confirm() always ends
  }

 private:
  using Seeds = std::vector<std::int64_t>;
  /// A verdict, or the end of the budget.
  struct Stop {
    TryEnd end;
  };

  void measure_noise() {
    Seeds seeds;
    for (std::int64_t seed = 1; seed <= command_.noise; ++seed) seeds.push_back(seed);
    const std::vector<SweepRun> runs = runs_with_seeds(base_, seeds, quiet_.runs, choose_in_store(quiet_));
    for (const SweepRun& run : runs) base_runs_.insert(run.planned.paths.folder);
    do_runs(runs);
    const std::vector<double> numbers = numbers_of(runs);
    const std::optional<SpreadEstimate> spread = spread_of_rounded(numbers, step_of(numbers));
    if (!spread || spread->deviation <= 0) {
      throw UsageError(fmt::format(
          "--noise: the base has the same {} with all seeds\ngive its program the seed: {{seed}}", command_.value));
    }
    plan_.noise = noise_of_pairs(*spread);
  }

  void screen() {
    for (std::int64_t seed = 1; seed <= plan_.seeds; ++seed) {
      const PairedNumbers pair = pairs_of({seed});
      screened_.change.push_back(pair.change.front());
      screened_.base.push_back(pair.base.front());
      gain_ = gain_of(screened_, plan_);
      if (seed > 1 && screened_.change == screened_.base)
        end("discard", "both sides have the same numbers, so the change makes no difference");
      const bool is_told = seed == plan_.seeds || has_many_digits(of_change_.front());  // few digits may be equal
      if (seed > 1 && gain_.value != 0 && is_told && are_equal(of_change_)) {
        end("undecided", "the change has the same number with all seeds: give the program its seed, {seed}");
      }
      const ScreenLook look = look_at_screen(screened_, plan_);
      if (look.step == ScreenStep::kPass) return;
      if (look.step == ScreenStep::kStop) {
        end("discard", fmt::format("{} pairs will hardly show a gain above {} (chance {})", plan_.seeds,
                                   with_digits(plan_.min_gain, 3), points_of_chance(*look.chance)));
      }
      if (look.step != ScreenStep::kUndecided) continue;
      test_ = test_limits(gain_, plan_.limits());
      const bool is_none = test_->decision == Decision::kOutside;
      end(is_none ? "discard" : "undecided",
          is_none ? "the screen shows no such gain" : seeds_in_words(range_to_decide(gain_, plan_.limits()), "pairs"));
    }
  }

  void confirm() {
    const std::int64_t both = 2 * plan_.seeds;
    if (!record_.confirmation && !budget_.has_room_for(both, cost())) end_of_budget("--spend", budget_, both);
    const TryConfirmation fresh = line_.confirm(record_.number, plan_.seeds, highest_seed());
    const PairedNumbers pairs = pairs_of(fresh.seeds);
    level_ = fresh.level;
    gain_ = gain_of(pairs, plan_);
    test_ = confirm_gain(pairs, plan_, level_);
    if (test_->decision == Decision::kInside) end("keep", "fresh pairs show the gain");
    if (test_->decision == Decision::kOutside) end("discard", "fresh pairs show no such gain");
    end("undecided", seeds_in_words(range_to_decide(gain_, plan_.limits()), "pairs"));
  }

  /// A pair for each seed.
  PairedNumbers pairs_of(const Seeds& seeds) {
    const ChooseValue choose = choose_in_store(quiet_);
    const std::vector<SweepRun> changes = runs_with_seeds(change_, seeds, quiet_.runs, choose);
    const std::vector<SweepRun> bases = runs_with_seeds(base_, seeds, quiet_.runs, choose);
    for (const SweepRun& run : changes) change_runs_.insert(run.planned.paths.folder);
    for (const SweepRun& run : bases) base_runs_.insert(run.planned.paths.folder);
    std::vector<SweepRun> both = bases;
    both.insert(both.end(), changes.begin(), changes.end());
    do_runs(both);
    PairedNumbers pairs{.change = {}, .base = numbers_of(bases)};
    pairs.change = numbers_of(changes);
    of_change_.insert(of_change_.end(), pairs.change.begin(), pairs.change.end());
    for (std::vector<double>* side : {&pairs.change, &pairs.base}) {
      for (double& number : *side) number *= *better_ == Better::kLower ? -1 : 1;
    }
    return pairs;
  }

  void do_runs(const std::vector<SweepRun>& runs) {
    std::vector<SweepRun> open;
    for (const SweepRun& run : runs) {
      if (run.is_open()) {
        open.push_back(run);
      } else {
        submit(run.planned);  // the file may declare another direction now
      }
    }
    check_ended(runs, open.empty() ? LaunchReport{} : launch(open));
    for (const TryBudget* budget : {&budget_, &line_budget_}) {
      if (!budget->is_limited() || !budget->is_unmeasured(cost())) continue;
      throw UsageError(
          fmt::format("the budget {} bounds nothing: no run reports its training_flops or training_tokens\n"
                      "let the program report them, or give a budget in runs or time",
                      budget->text()));
    }
  }

  LaunchReport launch(const std::vector<SweepRun>& open) {
    const std::int64_t fresh = std::ranges::count_if(open, [](const SweepRun& run) {
      return run.status.is_absent() || !read_live_run(run.planned.paths.folder).started;
    });
    if (!budget_.has_room_for(fresh, cost())) end_of_budget("--spend", budget_, fresh);
    const bool is_full = line_budget_.is_limited() && !line_budget_.has_room_for(fresh, line_.cost());
    if (is_full) end_of_budget("--spend-line", line_budget_, fresh);
    double next_look = 0;
    const auto should_stop = [this, next_look]() mutable {
      if (wall_seconds() < next_look) return false;
      next_look = wall_seconds() + kBetweenLooks;
      return has_spent();
    };
    std::vector<std::string> ids;
    for (const SweepRun& run : open) ids.push_back(run.id());
    line_.note_runs(record_.number, ids);
    SweepLaunch sweep(find_launcher(command_.launcher), base_, open,
                      {.jobs = command_.jobs, .site = command_.site, .should_stop = should_stop}, quiet_);
    sweep.start();
    LaunchReport report = sweep.wait();
    if (report.interrupted && !stop_requested()) {
      const bool is_of_try = budget_.is_spent(cost());
      end_of_budget(is_of_try ? "--spend" : "--spend-line", is_of_try ? budget_ : line_budget_, 0);
    }
    if (report.interrupted) throw Error("stopped; the same command goes on", kStopped);
    return report;
  }

  /// A change whose run ends without a result is broken; a base cannot be compared with.
  void check_ended(const std::vector<SweepRun>& runs, const LaunchReport& report) {
    for (const SweepRun& planned : runs) {
      const Run run = read_live_run(planned.planned.paths.folder);
      if (run.status == RunStatus::kDone) continue;
      const auto killed = report.ended.find(run.id);
      std::string how = killed != report.ended.end() ? killed->second : first_line(run.reason);
      const std::vector<std::string> said = split(std::string(trim(run.reason)), '\n');
      if (killed == report.ended.end() && said.size() > 1) how += ": " + said.back();  // in Python, the exception
      const std::string text = fmt::format("{} {}{}", run.id, name_of(run.status), how.empty() ? "" : ": " + how);
      const bool of_change = change_runs_.contains(run.folder);
      const bool goes_on = may_go_on(run);
      const std::string log = RunPaths{run.folder}.log().string();
      if (of_change && !goes_on) end("broken", fmt::format("{}, see {}", text, log));
      throw Error(
          fmt::format("{}\nsee {}; {}", text, log,
                      goes_on ? "the same command goes on" : "what the change is tried against fails: mend it"));
    }
  }

  std::vector<double> numbers_of(const std::vector<SweepRun>& runs) {
    RunTable table = open_runs(quiet_);
    const std::vector<Value>& column = table.column(command_.value);
    std::vector<double> numbers;
    AskedRows rows;
    for (const SweepRun& run : runs) {
      const std::optional<std::size_t> row = table.row_of(run.id());
      const std::optional<double> number = row ? as_number(column[*row]) : std::nullopt;
      if (!number || !std::isfinite(*number)) {
        const bool of_change = change_runs_.contains(run.planned.paths.folder);
        const std::string text = fmt::format("{} has no {}", run.id(), command_.value);
        if (of_change) end("broken", text);
        throw DataError(fmt::format("{}\nname what it has with --value: xlm runs show {}", text, run.id()));
      }
      numbers.push_back(*number);
      rows.push_back(*row);
    }
    const Better better =
        needed_direction(table, rows, command_.value, "try", "declare it in the file: program.better");
    if (better_ && *better_ != better) {
      throw UsageError(
          fmt::format("one side declares that {} is better where it is lower, and the other where it is higher\n"
                      "correct program.better in the file of one of them",
                      command_.value));
    }
    better_ = better;
    return numbers;
  }

  /// The highest seed with which one of the sides was ever run here.
  std::int64_t highest_seed() {
    RunTable table = open_runs(quiet_);
    const std::vector<Value>& seeds = table.column("seed");
    const std::vector<Value>& groups = table.column("seed_group");
    std::vector<std::size_t> sides;
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (table.id(row) == record_.change() || table.id(row) == record_.base()) sides.push_back(row);
    }
    std::int64_t highest = std::max(plan_.seeds, command_.noise);
    for (std::size_t row = 0; row < table.size(); ++row) {
      const auto is_same = [&](std::size_t side) { return same_value(groups[row], groups[side]); };
      if (std::ranges::none_of(sides, is_same)) continue;
      highest = std::max(highest, static_cast<std::int64_t>(as_number(seeds[row]).value_or(0)));
    }
    return highest;
  }

  TryCost cost() const {
    std::set<fs::path> folders = change_runs_;
    folders.insert(base_runs_.begin(), base_runs_.end());
    return cost_since(folders, record_.time);
  }

  bool has_spent() const {
    if (budget_.is_limited() && budget_.is_spent(cost())) return true;
    return line_budget_.is_limited() && line_budget_.is_spent(line_.cost());
  }

  [[noreturn]] void end(const char* verdict, const std::string& reason) {
    Json outcome = {{"verdict", verdict}};
    outcome.update(facts());
    if (!reason.empty()) outcome["reason"] = reason;
    throw Stop{{.outcome = std::move(outcome)}};
  }

  /// `more`: runs for which it has no room; 0: it is spent.
  [[noreturn]] void end_of_budget(const char* option, const TryBudget& budget, std::int64_t more) {
    Json outcome = {{"verdict", "undecided"}};
    outcome.update(facts());
    const std::string what = more > 0 ? fmt::format("has no room for {} more runs", more) : "is spent";
    outcome["reason"] = fmt::format("{} {} {}; with more the same command goes on", option, budget.text(), what);
    throw Stop{{.outcome = std::move(outcome), .is_final = false}};
  }

  Json facts() const {
    Json facts = {{"line", line_.name()},       {"try", record_.number},        {"value", command_.value},
                  {"min_gain", plan_.min_gain}, {"screened", screened_.size()}, {"cost", to_json(cost())}};
    if (gain_.seeds > 0) facts.update({{"gain", gain_.value}, {"pairs", gain_.seeds}});
    if (level_ > 0) facts["level"] = level_;
    if (test_) add_interval(facts, gain_.value, *test_);
    facts["equal"] = equality_in_words(change_runs_, base_runs_);
    facts["differ_in"] = record_.differ_in;
    return facts;
  }

  const TryCommand& command_;
  GlobalOptions quiet_;  // no board if standard error is no terminal
  const Recipe& change_;
  const Recipe& base_;
  TryLine& line_;
  TryRecord record_;
  TryBudget budget_;
  TryBudget line_budget_;
  GainPlan plan_;
  std::optional<Better> better_;
  std::set<fs::path> change_runs_;
  std::set<fs::path> base_runs_;
  std::vector<double> of_change_;  // its numbers
  PairedNumbers screened_;
  std::optional<LimitsTest> test_;
  Estimate gain_;
  double level_ = 0;
};

}  // namespace

TryEnd run_trial(const TryCommand& command, GlobalOptions global, const Recipe& change, const Recipe& base,
                 TryLine& line, TryRecord record) {
  return Trial(command, std::move(global), change, base, line, std::move(record)).run();
}

}  // namespace xlm
