// One try from its first pair of runs to its verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cmd/command.h"
#include "experiments/launchers/launcher.h"
#include "experiments/sweeps/try_budget.h"
#include "experiments/sweeps/try_line.h"
#include "experiments/sweeps/try_side.h"
#include "results/judgement/screen.h"
#include "results/quantities/quantities.h"

namespace xlm {

struct TryCommand {
  std::string change;
  std::string base;
  std::vector<std::string> overrides;
  std::string profile;
  std::string value = "valid.loss";
  double min_gain = 0;
  std::int64_t seeds = 5;
  std::int64_t noise = 0;
  std::string spend;
  std::string spend_line;
  std::string line;
  std::string note;
  std::string launcher = "local";
  std::int64_t jobs = 0;
  fs::path site;
  bool all = false;
  bool retry = false;  // of a change that was broken
  bool closes = false;
  bool print_skill = false;
};

struct TryEnd {
  Json outcome;          // for the line's journal
  bool is_final = true;  // otherwise the same command goes on: the budget is spent
};

class Trial {
 public:
  /// All outlive the trial.
  Trial(const TryCommand& command, GlobalOptions global, const Recipe& change, const Recipe& base, TryLine& line,
        TryRecord record);

  /// Does runs until there is a verdict, or the budget is spent. Throws Error if the base fails, and with the code
  /// kStopped if the user stops it.
  TryEnd run();

 private:
  using Seeds = std::vector<std::int64_t>;
  struct Stop;

  void measure_noise();
  void screen();
  void confirm();
  std::vector<double> gains_of(const Seeds& seeds);
  void do_runs(const std::vector<SweepRun>& runs);
  LaunchReport launch(const std::vector<SweepRun>& open);
  void check_ended(const std::vector<SweepRun>& runs, const LaunchReport& report);
  std::vector<double> numbers_of(const std::vector<SweepRun>& runs);
  std::int64_t highest_seed();
  TryCost cost() const;
  bool has_spent() const;
  [[noreturn]] void end(const char* verdict, const std::string& reason);
  [[noreturn]] void end_of_budget(const char* option, const TryBudget& budget, std::int64_t more);
  Json facts() const;

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
  std::vector<double> screened_;
  std::optional<LimitsTest> test_;
  Estimate gain_;
  double level_ = 0;
};

}  // namespace xlm
