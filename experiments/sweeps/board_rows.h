// The rows of a sweep's board, and how long what is left of them takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/sweeps/run_progress.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// A run that is held at a rung may never go on: nobody counts on it.
enum class BoardState { kWaiting, kHeld, kRunning, kElsewhere, kEnded };

struct BoardRow {
  const SweepRun* run = nullptr;
  std::vector<std::string> values;  // of the keys in which the runs differ
  BoardState state = BoardState::kWaiting;
  bool failed = false;
  std::string status;  // in a word, for people
  std::string worker;  // who has it: "vm 13_2"; empty: nobody, or it goes without saying
  RunProgress progress;

  double steps() const { return static_cast<double>(run->planned.options.train.steps); }
  bool waits() const { return state == BoardState::kWaiting || state == BoardState::kHeld; }
  bool is_at_work() const { return state == BoardState::kRunning || state == BoardState::kElsewhere; }
};

/// Seconds until the row's run ends, by its own pace; nothing where that is not known.
std::optional<double> time_left(const BoardRow& row);

/// Seconds until all have ended, if as many go on at once as do now and a run that has not begun goes as those did that
/// are most like it. Nothing where too little is known, or nobody is at work.
std::optional<double> time_left(const std::vector<BoardRow>& rows);

}  // namespace xlm
