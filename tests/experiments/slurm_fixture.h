// A real Slurm for a test, started by the program in the variable XLM_TEST_SLURM: `start FOLDER CPUS GPUS`, `stop
// FOLDER`. It leaves FOLDER/slurm.conf, and its partition `urgent` preempts jobs of the others.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "experiments/runs/live_run.h"
#include "tests/experiments/program.h"

namespace xlm {

class LocalSlurm {
 public:
  explicit LocalSlurm(fs::path folder) : folder_(std::move(folder)) {}

  /// The program that starts a Slurm; empty if none is named.
  static std::string starter() {
    const char* program = std::getenv("XLM_TEST_SLURM");
    return program == nullptr ? "" : program;
  }

  /// `settings` are shell variables for the program: MAX_ARRAY=3.
  void start(int cpus, int gpus = 0, const std::string& settings = "") {
    // The folder's name determines the ports, which another program may be using.
    for (const char* name : {"cluster", "cluster-2", "cluster-3"}) {
      started_ = shell(folder_, fmt::format("{} {} start {} {} {}", settings, starter(), name, cpus, gpus)).code == 0;
      name_ = name;
      if (started_) break;
      shell(folder_, fmt::format("{} stop {}", starter(), name));
    }
    ASSERT_TRUE(started_) << "no Slurm can be started";
    ::setenv("SLURM_CONF", (folder_ / name_ / "slurm.conf").c_str(), 1);
  }

  void stop() {
    if (!started_) return;
    shell(folder_, "scancel -u root; for i in 1 2 3 4 5 6 7 8 9; do [ -n \"$(squeue -h)\" ] && sleep 1; done");
    shell(folder_, fmt::format("{} stop {}", starter(), name_));
  }

  std::string squeue(const std::string& format) const {
    return std::string(trim(shell(folder_, "squeue -h -r -t PD,R,S -o '" + format + "'").out));
  }
  std::vector<std::string> jobs(const std::string& format = "%i") const {
    const std::string text = squeue(format);
    return text.empty() ? std::vector<std::string>() : split(text, '\n');
  }

  /// Slurm starts a requeued job after two minutes; here it starts soon. (Slurm accepts the job's new credential only
  /// after a second.)
  void start_requeued() const {
    shell(folder_,
          "squeue -h -r -t PD -o '%i %S' | while read task start; do"
          "  [ \"$(date -d \"$start\" +%s)\" -gt $(($(date +%s) + 5)) ] &&"
          "    scontrol update JobId=$task StartTime=now+3; done 2>/dev/null");
  }

  /// Waits for a condition about Slurm, unless the test has failed already. After five minutes it fails.
  static void until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(5);
    while (!testing::Test::HasFatalFailure() && !condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end)
          << shell(fs::current_path(), "squeue -o '%i %T %r %S'; sinfo -R; scontrol show node").out;
      ::usleep(50000);
    }
  }

 private:
  fs::path folder_;
  std::string name_;
  bool started_ = false;
};

inline std::size_t count_done(const std::vector<fs::path>& runs) {
  return static_cast<std::size_t>(std::count_if(
      runs.begin(), runs.end(), [](const fs::path& run) { return read_live_run(run).status == RunStatus::kDone; }));
}

}  // namespace xlm
