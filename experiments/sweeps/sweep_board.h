// Shows a sweep's progress: on a terminal a table of all its runs, redrawn in place; otherwise a plain line at
// intervals.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/terminal.h"
#include "experiments/sweeps/board_rows.h"
#include "experiments/sweeps/board_text.h"

namespace xlm {

class SweepBoard {
 public:
  struct Settings {
    std::FILE* out = nullptr;  // null: nothing is shown
    Terminal terminal;         // its size is read again at every update
    std::function<double()> clock;
    double plain_interval = 30;  // seconds between lines if the output is no terminal
    bool elapsed = true;         // show how long the board has existed
  };

  /// `runs` in the order of display. They outlive the board.
  SweepBoard(Settings settings, const std::vector<SweepRun>& runs);
  ~SweepBoard();
  SweepBoard(const SweepBoard&) = delete;
  SweepBoard& operator=(const SweepBoard&) = delete;

  /// `why` is one word: waits, new, stale, ….
  void waits(const SweepRun& run, const std::string& why = "waits") { set(run, BoardState::kWaiting, why, ""); }
  void holds(const SweepRun& run, std::int64_t step) { set(run, BoardState::kHeld, "at " + std::to_string(step), ""); }
  void runs_here(const SweepRun& run, const std::string& worker = "") {
    set(run, BoardState::kRunning, "runs", worker);
  }
  void runs_elsewhere(const SweepRun& run) { set(run, BoardState::kElsewhere, "not here", ""); }
  /// `how` is what a plain line reports: done, failed, killed by signal 9, ….
  void ended(const SweepRun& run, RunStatus status, const std::string& how);

  /// A line about workers, below the line about runs; empty: none.
  void set_workers(const std::string& line) { workers_ = line; }

  /// Redraws if it is time. The journals of running runs give their progress.
  void update();
  /// Prints a line that stays.
  void note(const std::string& line);

  /// The board as it is now: for a terminal, or whole for a file.
  std::string text(const Terminal& terminal);
  Json json();

 private:
  BoardRow& row_of(const SweepRun& run) { return rows_.at(places_.at(run.id())); }
  void set(const SweepRun& run, BoardState state, const std::string& status, const std::string& worker);
  void look_at_journals();
  std::string head() const;
  void clear();

  Settings settings_;
  std::vector<std::string> keys_;  // in which the runs differ
  std::vector<BoardRow> rows_;
  std::map<std::string, std::size_t> places_;
  std::string workers_;
  double began_;
  double last_;
  std::string drawn_;  // what is drawn on the terminal
};

}  // namespace xlm
