// Watches a sweep that other workers do.
#pragma once

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/launchers/launcher.h"
#include "experiments/launchers/scheduler.h"
#include "experiments/sweeps/sweep_board.h"

namespace xlm {

struct WatchSettings {
  std::function<bool()> should_stop;
  std::function<void()> finished;                                     // called after a look that found ended runs
  std::function<std::optional<std::vector<QueuedWorker>>()> workers;  // see Launcher; null: unknown
  std::FILE* screen = nullptr;                                        // null: nothing is shown
  Terminal terminal;
  std::function<double()> clock = monotonic_seconds;
  std::function<void(double)> sleep = sleep_seconds;
  double poll_seconds = 0.1;       // between looks at should_stop
  double look_seconds = 2;         // between looks at run folders
  double queue_seconds = 10;       // between the first questions to the queue; doubles while nothing changes
  double queue_max_seconds = 120;  // the longest time between questions
  bool stay = false;               // stay without workers too: some may start later
  bool elapsed = true;             // show how long it has watched
};

/// Watches one sweep. A run has ended if it has failed or diverged, or is done with its evaluations.
class SweepWatch {
 public:
  /// `runs` must be submitted. Both arguments outlive the watch.
  SweepWatch(const std::vector<SweepRun>& runs, const WatchSettings& settings);

  /// Returns when every run has ended, when no worker is left for the others, or, interrupted, when asked to stop.
  LaunchReport run();

  /// Looks once at runs and queue. Returns the board as text for a terminal or a file, or as JSON with the queue's
  /// workers.
  std::string text(const Terminal& terminal);
  Json json();

 private:
  /// A run that was not done, and the state of its journal when last read.
  struct Open {
    const SweepRun* run;
    std::string seen;
    bool ended = false;
  };

  void look_at_runs();
  bool look_at(Open& open);
  bool look_at_queue();
  void ask_queue();

  const WatchSettings& settings_;
  std::vector<Open> open_;
  std::size_t left_ = 0;  // runs of open_ that have not ended
  SweepBoard board_;
  std::size_t working_ = 0;  // runs that have a live worker
  double next_look_;
  double next_question_;
  double interval_;
  std::optional<std::vector<QueuedWorker>> workers_;  // by the queue's last answer
  std::string last_answer_;
};

/// "4 workers run on vm, 2 wait: Resources"; empty if there are none.
std::string workers_line(const std::vector<QueuedWorker>& workers);

}  // namespace xlm
