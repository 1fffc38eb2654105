// Shared by the campaigns: the program with the stand-in for core, and the content of a folder of runs as text.
//
// Tests run a sample of each campaign. `make soak` (XLM_CAMPAIGNS=full) runs all of it and prints its counts.
#pragma once

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "base/text.h"
#include "results/store/sql_query.h"
#include "results/store/store.h"
#include "tests/campaign_size.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {

/// Also false for a process that has ended, which accepts signals until its sweep has read its exit code.
inline bool is_alive(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string line;
  std::getline(file, line);
  const std::size_t name_ends = line.rfind(") ");
  return name_ends != std::string::npos && line[name_ends + 2] != 'Z' && line[name_ends + 2] != 'X';
}

/// The running workers of a sweep.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", parent), ignored)) {
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) {
      if (is_alive(child)) found.push_back(child);
    }
  }
  return found;
}

/// Makes a run's lock look expired, as if its worker had sent no heartbeat.
inline void let_lock_age(const fs::path& run) {
  for (const auto& entry : fs::directory_iterator(run)) {
    if (!entry.path().filename().string().starts_with("lock.")) continue;
    fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::seconds(200));
  }
}

/// Preloads fault_points.cpp. Only by its name, because a list of libraries is split at spaces.
inline std::string preload() {
  const fs::path library = XLM_FAULT_POINTS;
  return fmt::format("LD_LIBRARY_PATH='{}' LD_PRELOAD={}", library.parent_path().string(), library.filename().string());
}

class Campaign : public ProgramTest {
 protected:
  /// The program after words for the shell: VARIABLE=VALUE, `timeout 10`, `unshare …`.
  ProgramResult run_with(const std::string& before, const std::string& arguments) {
    return shell(folder_.path(), before + " '" XLM_FAKE_BINARY "' " + arguments);
  }

  /// A shell script on a machine of that name, which shares no processes, mounts or host names. Needs root.
  static std::vector<std::string> on_machine(const std::string& name, const std::string& script) {
    return {"/usr/bin/unshare", "--pid",        "--uts",
            "--fork",           "--mount-proc", "--kill-child",
            "/bin/sh",          "-c",           fmt::format("hostname {}; {}", name, script)};
  }

  /// The files below the test's folder. Files whose bytes do not depend on time have their hash.
  std::map<std::string, std::string> files() const {
    // These contain times, processes and addresses. `store()` has their results.
    static const std::regex time_dependent(
        R"((.*/)?(journal\.jsonl|log\.txt|steps\.log|evaluations\.log|environment\.json|lock|results\.db.*|\.verified\.json|.*\.html|.*\.svg|.*\.tar\.zst))");
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (!entry.is_regular_file()) continue;
      std::string name = entry.path().lexically_relative(folder_.path()).string();
      if (name.starts_with("out.") || name.starts_with("calls")) continue;  // files of the test
      if (name.ends_with("/evaluations.log")) continue;  // a file of the stand-in, which a fault also hits
      name = std::regex_replace(name, std::regex(R"(/lock\.[0-9]+$)"), "/lock");
      found[name] = std::regex_match(name, time_dependent) ? "" : sha256(read_file(entry.path()));
    }
    return found;
  }

  /// The store's content about all runs, as text; `again` first rebuilds it from the run folders.
  std::string store(bool again = false) {
    if (!fs::exists(runs_)) return "";
    const fs::path file = runs_ / "results.db";
    if (again) Store::rebuild(file, runs_);
    Store(file).sync(runs_);
    return text_of_store(file);
  }

  /// A store's content about all runs, as text.
  static std::string text_of_store(const fs::path& file) {
    Store store = Store::open_read_only(file);
    std::string text;
    for (const char* query :
         {"SELECT run_id, experiment, status, step, seed_group FROM runs ORDER BY 1",
          "SELECT run_id, split, metric, step, settings, value, final, main FROM evaluations "
          "WHERE metric <> 'seconds' ORDER BY 1, 2, 3, 4, 5",
          "SELECT * FROM metrics ORDER BY 1, 2, 3",
          // What follows from time is different each time.
          "SELECT * FROM costs WHERE name NOT IN ('processor_hours', 'gpu_hours', 'energy', 'energy_gpu') "
          "ORDER BY 1, 2",
          "SELECT * FROM experiments ORDER BY 1, 2"}) {
      for (const std::vector<Json>& row : run_sql(store, query).rows) text += Json(row).dump() + "\n";
    }
    return text;
  }

  /// Makes all files look old, so that leftovers may be removed.
  void let_time_pass() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      std::error_code ignored;
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1), ignored);
    }
  }
};

}  // namespace xlm
