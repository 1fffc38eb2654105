// Progress of long work: a line or two redrawn on a terminal, otherwise a plain line from time to time.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

#include "base/terminal.h"

namespace xlm {

/// Seconds of a clock that never goes back.
double monotonic_seconds();

/// Shows how far a task with a known amount of work is, its rate and the time left.
class Progress {
 public:
  struct Settings {
    std::string label;
    double total = 0;  // amount of work, in `unit`s
    std::string unit = "steps";
    bool bytes = false;          // the unit is bytes: shown as kB, MB, …
    bool rate = true;            // show units per second
    bool quiet = false;          // draw nothing
    bool two_lines = false;      // on a terminal the text of `update` has a separate line
    double plain_interval = 10;  // seconds between lines if output is piped
  };

  /// Writes to `out` (standard error in the program).
  Progress(Settings settings, std::FILE* out, Terminal terminal, std::function<double()> clock = monotonic_seconds);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// `done` of `total` units are finished; `start` units were finished before this process began (a resumed run).
  void start_at(double start);
  void update(double done, const std::string& detail = "");

  /// Prints `line` above the bar.
  void note(const std::string& line);

  /// Clears the bar.
  void finish();

 private:
  std::string text(double done, const std::string& detail) const;
  std::string bar(double done, std::size_t taken) const;
  void clear();

  Settings settings_;
  std::FILE* out_;
  Terminal terminal_;
  std::function<double()> clock_;
  double began_;
  double start_ = 0;
  double last_drawn_;
  std::string drawn_;
};

}  // namespace xlm
