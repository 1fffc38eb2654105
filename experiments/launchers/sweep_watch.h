// Looking on while workers that others have started do a sweep.
#pragma once

#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/launchers/launcher.h"
#include "experiments/launchers/scheduler.h"

namespace xlm {

struct WatchSettings {
  std::function<bool()> should_stop;
  std::function<void()> finished;                                     // after a look that found runs ended
  std::function<std::optional<std::vector<QueuedWorker>>()> workers;  // see Launcher; null: unknown
  std::FILE* screen = nullptr;                                        // null: nothing is shown
  Terminal terminal;
  std::function<double()> clock = monotonic_seconds;
  std::function<void(double)> sleep = sleep_seconds;
  double poll_seconds = 0.1;  // between looks at should_stop
  double look_seconds = 2;    // between looks at run folders
  double queue_seconds = 10;  // between the first questions to the queue; the time doubles while nothing changes
  double queue_most = 120;    // up to this
  bool stay = false;          // also when nobody is left to do the runs: somebody may come
  bool elapsed = true;        // say how long it has watched
};

/// One sweep being looked at. A run has ended where it is done with its evaluations, failed or diverged.
class SweepWatch {
 public:
  /// `runs` have been submitted; both outlive the watch.
  SweepWatch(const std::vector<SweepRun>& runs, const WatchSettings& settings);

  /// Returns when every run has ended, when nobody is left to do the others, or, interrupted, when asked to stop.
  LaunchReport run();

  /// Looks once, at runs and queue: the board as text for a terminal or a file, or as JSON with the queue's workers.
  std::string text(const Terminal& terminal);
  Json json();

 private:
  /// A run that was to be done, and what was seen of its journal when it was read last.
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
  std::size_t left_ = 0;  // of them, not ended
  SweepBoard board_;
  std::size_t working_ = 0;  // runs that have a live worker
  double next_look_;
  double next_question_;
  double interval_;
  std::optional<std::vector<QueuedWorker>> workers_;  // by the last answer of the queue
  std::string last_answer_;
};

/// "4 workers run on vm, 2 wait: Resources"; empty where there are none.
std::string workers_line(const std::vector<QueuedWorker>& workers);

}  // namespace xlm
