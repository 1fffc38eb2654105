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
  bool stopped = false;  // before its end: it waits for another command
  std::string status;    // one word for the user
  std::string worker;    // the worker that has the run: "vm 13_2"; empty: none, or the only one
  RunProgress progress;
  double expected_steps = 0;  // by expect_steps()

  /// Of the whole run; with a budget, as many as the part that is spent lets expect; 0: not known.
  double steps() const;
  double step() const { return number_at(progress.metric, "step"); }
  /// Whether the run has ended (the journal has its last record), and was not stopped before.
  bool has_ended() const { return state == BoardState::kEnded && !stopped; }
  /// What a run of ours does between its steps, by its last records: "evaluates valid", "evaluates", or "".
  std::string evaluates() const;
  bool waits() const { return state == BoardState::kWaiting || state == BoardState::kHeld; }
  bool is_at_work() const { return state == BoardState::kRunning || state == BoardState::kElsewhere; }
};

/// Runs of programs that do not name their steps are expected to take as many as the runs most similar to them that are
/// done.
void expect_steps(std::vector<BoardRow>& rows);

/// Seconds until the row's run has done its steps, by its own pace. Returns nullopt if that is unknown, or if it has.
std::optional<double> time_left(const BoardRow& row);

/// Seconds until all runs have ended, if as many run at once as now. A run that has not begun counts like the runs most
/// similar to it. Returns nullopt if too little is known, or if no worker is running.
std::optional<double> time_left(const std::vector<BoardRow>& rows);

}  // namespace xlm
