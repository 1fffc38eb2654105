// The program with a core that needs no torch, in its own folder with data and a configuration.
#pragma once

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

  std::vector<fs::path> run_folders() const {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(runs_)) {
      const bool hidden = entry.path().filename().string().front() == '.';  // under construction
      if (!hidden && fs::exists(entry.path() / "journal.jsonl")) folders.push_back(entry.path());
    }
    return folders;
  }

  std::size_t count_running() const {
    if (!fs::exists(runs_)) return 0;
    std::size_t count = 0;
    for (const fs::path& folder : run_folders()) {
      if (read_live_run(folder).status == RunStatus::kRunning && steps(folder).size() >= 2) ++count;
    }
    return count;
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
