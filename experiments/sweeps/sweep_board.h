// What a sweep shows while it runs: on a terminal a table of all its runs, redrawn in place; piped, a plain line now
// and then.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/terminal.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// The newest metric record of a journal, read from its end alone; null when there is none near it.
Json last_metric(const fs::path& journal);

class SweepBoard {
 public:
  struct Settings {
    std::FILE* out = nullptr;  // null: nothing is shown
    Terminal terminal;
    std::function<double()> clock;
    double plain_interval = 30;  // seconds between lines where output is piped
  };

  /// `runs` in the order in which they are shown; they outlive the board.
  SweepBoard(Settings settings, const std::vector<SweepRun>& runs);
  ~SweepBoard();
  SweepBoard(const SweepBoard&) = delete;
  SweepBoard& operator=(const SweepBoard&) = delete;

  void waits(const SweepRun& run) { row_of(run).state = State::kWaiting; }
  void runs_here(const SweepRun& run) { row_of(run).state = State::kRunning; }
  void runs_elsewhere(const SweepRun& run) { row_of(run).state = State::kElsewhere; }
  /// `how` is what a plain line says of it: done, failed, killed by signal 9, ….
  void ended(const SweepRun& run, RunStatus status, const std::string& how);

  /// Redraws when it is time; the journals of running runs say how far they are.
  void update();
  /// A line that stays.
  void note(const std::string& line);

 private:
  enum class State { kWaiting, kRunning, kElsewhere, kEnded };
  struct Row {
    const SweepRun* run;
    State state = State::kWaiting;
    bool counted = true;  // it was not done before
    bool failed = false;
    std::string status;      // of one that ended
    Json metric;             // the newest that was seen
    double first_step = -1;  // of the first metric seen, and its time: for the rate
    double first_time = 0;
  };
  /// How far a run is, as text.
  struct Cells {
    std::string status, step, left, headline;
    std::map<std::string, std::string> live;  // by the quantity's name
  };
  struct Column {
    std::string title;
    std::function<std::string(const Cells&)> cell;
  };

  Row& row_of(const SweepRun& run) { return rows_.at(places_.at(run.id())); }
  void look_at_journals();
  Cells cells_of(const Row& row) const;
  std::string summary() const;
  std::string running_line(const Row& row) const;
  std::string table() const;
  std::vector<Column> columns() const;
  std::string table_of(const std::vector<Column>& columns, const Terminal& terminal) const;
  static Colour colour_of(const Row& row);
  std::vector<bool> shown_rows(std::size_t room) const;
  void clear();

  Settings settings_;
  std::vector<std::string> keys_;  // that the runs differ in
  std::vector<Row> rows_;
  std::map<std::string, std::size_t> places_;
  double began_;
  double last_;
  std::size_t lines_ = 0;  // drawn on the terminal
};

}  // namespace xlm
