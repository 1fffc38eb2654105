// What happens to a sweep that jobs of a real Slurm and a local sweep do together: kills, and what a cluster does.
#pragma once

#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/experiments/slurm_fixture.h"

namespace xlm {

class SlurmEvents {
 public:
  /// Events for the runs of a folder below the test's folder, where `slurm` runs.
  SlurmEvents(const LocalSlurm& slurm, fs::path folder, fs::path runs, unsigned seed)
      : slurm_(slurm), folder_(std::move(folder)), runs_(std::move(runs)), random_(seed) {}

  std::size_t pick(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

  /// So many milliseconds, at random.
  void pause(int least, int most) {
    ::usleep(static_cast<useconds_t>(1000 * std::uniform_int_distribution<int>(least, most)(random_)));
  }

  /// Causes an event; false if there is no process that it could hit.
  bool happens(const std::string& event, BackgroundProgram& local) {
    if (event == "kill -9 of a run's process") return kill_one_of(workers("--threads"));
    if (event == "kill -9 of a job's worker") return kill_one_of(workers("--sweep"));
    if (event == "requeue") return tell("scontrol requeue TASK");
    if (event == "scancel") return tell("scancel TASK");
    if (event == "suspension") return tell("scontrol suspend TASK && sleep 1; scontrol resume TASK");
    if (event == "preemption") return tell("sbatch -p urgent -n 6 --wrap 'sleep 1'");
    if (!local.is_running()) return false;
    local.kill(SIGKILL);
    return true;
  }

  bool kill_one_of(const std::vector<pid_t>& processes) {
    return !processes.empty() && ::kill(processes[pick(processes.size())], SIGKILL) == 0;
  }

  void count(const std::string& event) {
    ++happened_;
    ++kinds_[event];
  }
  int happened() const { return happened_; }
  /// ", 3 × requeue" for each kind that has happened.
  std::string by_kind() const {
    std::string text;
    for (const auto& [kind, count] : kinds_) text += fmt::format(", {} × {}", count, kind);
    return text;
  }

 private:
  /// Processes of this sweep whose command line contains `mark`.
  std::vector<pid_t> workers(const std::string& mark) const {
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      const pid_t pid = std::atoi(entry.path().filename().c_str());
      std::ifstream file(entry.path() / "cmdline");
      std::ostringstream text;
      text << file.rdbuf();  // nothing of a process that has ended meanwhile
      const std::string words = text.str();
      const bool ours = words.find(runs_.string()) != std::string::npos || words.starts_with("runs/");
      if (pid > 0 && ours && words.find(mark) != std::string::npos) found.push_back(pid);
    }
    return found;
  }

  /// Runs a Slurm command on one of the running tasks.
  bool tell(const std::string& what) {
    std::vector<std::string> tasks;
    for (const std::string& line : slurm_.jobs("%i %T")) {
      if (line.ends_with("RUNNING")) tasks.push_back(line.substr(0, line.find(' ')));
    }
    if (tasks.empty()) return false;
    const std::string task = tasks[pick(tasks.size())];
    return shell(folder_, std::regex_replace(what, std::regex("TASK"), task)).code == 0;
  }

  const LocalSlurm& slurm_;
  fs::path folder_;
  fs::path runs_;
  std::mt19937 random_;
  int happened_ = 0;
  std::map<std::string, int> kinds_;
};

}  // namespace xlm
