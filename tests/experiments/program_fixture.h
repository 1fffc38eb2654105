// The program with a core that needs no torch, in its own folder with data and a configuration.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "experiments/runs/live_run.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/program.h"
#include "tests/temporary_folder.h"

namespace xlm {

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() : data_(make_data(folder_.path() / "data")), runs_(folder_.path() / "runs") {
    ::setenv("XLM_FAKE_HOLD", hold().c_str(), 1);
    order("");
    write_file(config(), run_config("data"));
  }

  fs::path hold() const { return folder_.path() / "hold"; }
  fs::path config() const { return folder_.path() / "run.yaml"; }

  /// The orders for the fake core in programs that start from now on (see fake_core.h).
  static void order(const std::string& orders) { ::setenv("XLM_FAKE_CORE", orders.c_str(), 1); }

  BackgroundProgram start(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), XLM_FAKE_BINARY);
    return BackgroundProgram(std::move(arguments), folder_.path());
  }
  ProgramResult run(const std::vector<std::string>& arguments) { return start(arguments).wait(); }

  void write_sweep(const std::string& sweep) { write_file(folder_.path() / "sweep.yaml", run_config("data", sweep)); }

  /// Waits for another process's action. The test's time limit ends the wait.
  static void until(const std::function<bool()>& condition) {
    for (auto check = std::chrono::steady_clock::now(); !condition(); check = std::chrono::steady_clock::now()) {
      pause_after(check, std::chrono::milliseconds(1));
    }
  }

  std::vector<fs::path> run_folders() const { return run_folders_of(runs_); }
  static std::vector<fs::path> run_folders_of(const fs::path& runs) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(runs)) {
      const bool hidden = entry.path().filename().string().front() == '.';  // under construction
      if (!hidden && fs::exists(entry.path() / "journal.jsonl")) folders.push_back(entry.path());
    }
    return folders;
  }

  std::size_t count_running() const { return count_in(runs_, RunStatus::kRunning); }
  /// Those of a folder of runs that have this status and at least two steps.
  static std::size_t count_in(const fs::path& runs, RunStatus status) {
    if (!fs::exists(runs)) return 0;
    return static_cast<std::size_t>(std::ranges::count_if(run_folders_of(runs), [&](const fs::path& folder) {
      return read_live_run(folder).status == status && steps(folder).size() >= 2;
    }));
  }

  static std::vector<int> steps(const fs::path& run) {
    std::ifstream file(run / "steps.log");
    std::vector<int> result;
    for (int step = 0; file >> step;) result.push_back(step);
    return result;
  }

  /// Every run is done. Its steps are 1 … 10, and only steps after a checkpoint that a kill undid are there twice.
  void expect_all_done(std::size_t count) const {
    EXPECT_EQ(run_folders().size(), count);
    for (const fs::path& folder : run_folders()) {
      EXPECT_EQ(read_live_run(folder).status, RunStatus::kDone) << folder;
      const std::vector<int> done = steps(folder);
      EXPECT_EQ(std::set<int>(done.begin(), done.end()).size(), 10U) << folder;
    }
  }

  TemporaryFolder folder_;
  fs::path data_;
  fs::path runs_;
};

}  // namespace xlm
