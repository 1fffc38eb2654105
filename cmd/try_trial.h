// One try from its first pair of runs to its verdict.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cmd/command.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/sweeps/try_line.h"

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

/// Does runs of both sides until there is a verdict, or the budget is spent. Throws Error if the base fails, and with
/// the code kStopped if the user stops it.
TryEnd run_trial(const TryCommand& command, GlobalOptions global, const Recipe& change, const Recipe& base,
                 TryLine& line, TryRecord record);

}  // namespace xlm
