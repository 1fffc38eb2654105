// A real Slurm for a test, started by the program in the variable XLM_TEST_SLURM: `start FOLDER CPUS GPUS`, `stop
// FOLDER`. It leaves FOLDER/slurm.conf, and its partition `urgent` preempts jobs of the others.
#pragma once

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
    // The folder's whole name determines the ports, so Slurms that run at once have different ones. Other programs may
    // be using them.
    for (const char* name : {"cluster", "cluster-2", "cluster-3"}) {
      name_ = name;
      const ProgramResult result =
          shell(folder_, fmt::format("{} {} start '{}' {} {}", settings, starter(), cluster().string(), cpus, gpus));
      ::setenv("SLURM_CONF", (cluster() / "slurm.conf").c_str(), 1);
      started_ = result.code == 0 && answers();
      if (started_) break;
      stop_cluster();
    }
    ASSERT_TRUE(started_) << "no Slurm can be started";
  }

  void stop() {
    if (!started_) return;
    shell(folder_, "scancel -u root; for i in $(seq 45); do [ -n \"$(squeue -h)\" ] || break; sleep 0.2; done");
    stop_cluster();
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
    auto check = std::chrono::steady_clock::now();
    for (; !testing::Test::HasFatalFailure() && !condition(); check = std::chrono::steady_clock::now()) {
      ASSERT_LT(check, end) << shell(fs::current_path(), "squeue -o '%i %T %r %S'; sinfo -R; scontrol show node").out;
      pause_after(check, std::chrono::milliseconds(50));
    }
  }

 private:
  fs::path cluster() const { return folder_ / name_; }
  void stop_cluster() const { shell(folder_, fmt::format("{} stop '{}'", starter(), cluster().string())); }

  /// Its node is ready, and it is not the Slurm of another folder that has the same ports.
  bool answers() const {
    const std::string settings = shell(folder_, "sinfo -h -o %t && scontrol show config").out;
    return settings.starts_with("idle") && settings.find(cluster().string()) != std::string::npos;
  }

  fs::path folder_;
  std::string name_;
  bool started_ = false;
};

inline std::size_t count_done(const std::vector<fs::path>& runs) {
  return static_cast<std::size_t>(std::count_if(
      runs.begin(), runs.end(), [](const fs::path& run) { return read_live_run(run).status == RunStatus::kDone; }));
}

}  // namespace xlm
