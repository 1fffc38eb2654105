// What the campaigns share: the program with the stand-in for core, and one way to say what is in a folder of runs.
//
// The tests run a sample of each campaign; `make soak` (XLM_CAMPAIGNS=full) runs the whole, and prints its counts.
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

class Campaign : public ProgramTest {
 protected:
  /// Preloads fault_points.cpp: by its name alone, for a list of libraries is cut at spaces.
  static std::string preload() {
    const fs::path library = XLM_FAULT_POINTS;
    return fmt::format("LD_LIBRARY_PATH='{}' LD_PRELOAD={}", library.parent_path().string(),
                       library.filename().string());
  }

  /// The program after words of the shell that come before it: VARIABLE=VALUE, `timeout 10`, `unshare …`.
  ProgramResult run_with(const std::string& before, const std::string& arguments) {
    return shell(folder_.path(), before + " '" XLM_FAKE_BINARY "' " + arguments);
  }

  /// A script of the shell on a machine of that name: neither processes, mounts nor host names are shared. Wants root.
  static std::vector<std::string> on_machine(const std::string& name, const std::string& script) {
    return {"/usr/bin/unshare", "--pid",        "--uts",
            "--fork",           "--mount-proc", "--kill-child",
            "/bin/sh",          "-c",           fmt::format("hostname {}; {}", name, script)};
  }

  /// As if a run's worker had given no sign of life for longer than its lock lives.
  static void let_lock_age(const fs::path& run) {
    for (const auto& entry : fs::directory_iterator(run)) {
      if (!entry.path().filename().string().starts_with("lock.")) continue;
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::seconds(200));
    }
  }

  /// The files below the test's folder, with the hash of those whose bytes are the work's and not the moment's.
  std::map<std::string, std::string> files() const {
    // Times, processes and addresses stand in these; what they say of the work is in `store()`.
    static const std::regex of_the_moment(
        R"((.*/)?(journal\.jsonl|log\.txt|steps\.log|evaluations\.log|environment\.json|lock|results\.db.*|\.verified\.json|.*\.html|.*\.svg|.*\.tar\.zst))");
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (!entry.is_regular_file()) continue;
      std::string name = entry.path().lexically_relative(folder_.path()).string();
      if (name.starts_with("out.") || name.starts_with("calls")) continue;  // the test's own
      if (name.ends_with("/evaluations.log")) continue;  // the stand-in's own, which a fault hits too
      name = std::regex_replace(name, std::regex(R"(/lock\.[0-9]+$)"), "/lock");
      found[name] = std::regex_match(name, of_the_moment) ? "" : sha256(read_file(entry.path()));
    }
    return found;
  }

  /// What the store says of all runs, as text; `again` makes it anew from the run folders first.
  std::string store(bool again = false) {
    if (!fs::exists(runs_)) return "";
    const fs::path file = runs_ / "results.db";
    if (again) Store::rebuild(file, runs_);
    Store(file).sync(runs_);
    return told_by(file);
  }

  /// What that store says of all runs, as text.
  static std::string told_by(const fs::path& file) {
    Store store = Store::open_read_only(file);
    std::string text;
    for (const char* query : {"SELECT run_id, experiment, status, step, seed_group FROM runs ORDER BY 1",
                              "SELECT run_id, split, metric, step, settings, value, final, main FROM evaluations "
                              "WHERE metric <> 'seconds' ORDER BY 1, 2, 3, 4, 5",
                              "SELECT * FROM metrics ORDER BY 1, 2, 3", "SELECT * FROM costs ORDER BY 1, 2",
                              "SELECT * FROM experiments ORDER BY 1, 2"}) {
      for (const std::vector<Json>& row : run_sql(store, query).rows) text += Json(row).dump() + "\n";
    }
    return text;
  }

  /// Everything below the folder looks as if nobody had touched it for long: what was left behind may be removed.
  void let_time_pass() const {
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      std::error_code ignored;
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1), ignored);
    }
  }
};

}  // namespace xlm
