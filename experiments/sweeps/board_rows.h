// The rows of a sweep's board, and how long the rest of them takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/sweeps/run_progress.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// A run held at a rung may never resume, so no estimate counts it.
enum class BoardState { kWaiting, kHeld, kRunning, kElsewhere, kEnded };

struct BoardRow {
  const SweepRun* run = nullptr;
  std::vector<std::string> values;  // of the keys in which the runs differ
  BoardState state = BoardState::kWaiting;
  bool failed = false;
  std::string status;  // one word for the user
  std::string worker;  // the worker that has the run: "vm 13_2"; empty: none, or the only one
  RunProgress progress;

  double steps() const { return static_cast<double>(run->planned.options.train.steps); }
  bool waits() const { return state == BoardState::kWaiting || state == BoardState::kHeld; }
  bool is_at_work() const { return state == BoardState::kRunning || state == BoardState::kElsewhere; }
};

/// Seconds until the row's run ends, by its own pace. Returns nullopt if that is unknown.
std::optional<double> time_left(const BoardRow& row);

/// Seconds until all runs have ended, if as many run at once as now. A run that has not begun counts like the runs most
/// similar to it. Returns nullopt if too little is known, or if no worker is running.
std::optional<double> time_left(const std::vector<BoardRow>& rows);

}  // namespace xlm
