// What a sweep shows while it runs: on a terminal a line for all and one for each running run, redrawn in place; piped,
// a plain line now and then.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/terminal.h"
#include "results/run_folder.h"

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
  struct Counts {
    std::size_t total = 0;
    std::size_t ended = 0;
    std::size_t failed = 0;  // of those that ended
    std::size_t elsewhere = 0;
  };

  struct Running {
    fs::path folder;
    std::int64_t steps = 0;  // that the run takes altogether
  };

  explicit SweepBoard(Settings settings);
  ~SweepBoard();
  SweepBoard(const SweepBoard&) = delete;
  SweepBoard& operator=(const SweepBoard&) = delete;

  /// Redraws when it is time; the journals of `running` say how far their runs are.
  void update(const Counts& counts, const std::vector<Running>& running);
  /// A line that stays.
  void note(const std::string& line);

 private:
  struct Seen {
    double step = 0;
    double time = 0;
  };
  std::string run_line(const Running& run);
  void clear();

  Settings settings_;
  double began_;
  double last_;
  std::size_t lines_ = 0;              // drawn on the terminal
  std::map<std::string, Seen> first_;  // the first metric seen of each run, for its rate
};

}  // namespace xlm
