// Folders of runs whose journals a test sets, and merges of one into another.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/yaml.h"
#include "experiments/collections/run_files.h"
#include "experiments/collections/run_merge.h"
#include "experiments/runs/submission.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/sweeps/sweep_plan.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/experiment_files.h"
#include "tests/temporary_folder.h"

namespace xlm {

class RunMergeTest : public ::testing::Test {
 protected:
  RunMergeTest() : data_(make_data(folder_.path() / "data")) {}

  fs::path place(const std::string& name) const { return folder_.path() / name; }

  /// A run with that seed in a folder of runs. `records` give its state.
  fs::path make_run(const std::string& runs, int seed, const std::string& experiment = "one") {
    const Yaml tree =
        parse_yaml(run_config(data_, fmt::format("experiment: {}\nseed: {}\n", experiment, seed)), "run.yaml");
    const SweepRun run = plan_sweep(recipe_of(tree), place(runs), false).front();
    submit(run.planned);
    return run.planned.paths.folder;
  }

  void add(const fs::path& run, const std::string& type, Json fields, int token = 1) {
    ++now_;
    Journal(
        RunPaths{run}.journal(), [this] { return now_; }, token)
        .append(type, fields);
  }
  void train(const fs::path& run, int steps) {
    add(run, "state", {{"state", "running"}, {"host", "vm"}, {"pid", 1}});
    for (int step = 1; step <= steps; ++step) add(run, "metric", {{"step", step}, {"values", {{"bpc", 2.5}}}});
  }
  void finish(const fs::path& run, double bpc) {
    evaluate(run, "test", bpc, Json::object());
    add(run, "state", {{"state", "done"}});
  }
  /// The same run, done in the folders a and b.
  std::pair<fs::path, fs::path> done_in_both(double bpc_here, double bpc_there) {
    const fs::path here = make_run("a", 1);
    copy(place("a"), place("b"));
    const fs::path there = place("b") / here.filename();
    train(here, 10);
    finish(here, bpc_here);
    train(there, 10);
    finish(there, bpc_there);
    return {here, there};
  }
  void evaluate(const fs::path& run, const std::string& split, double bpc, const Json& settings) {
    add(run, "evaluation",
        {{"step", 10},
         {"split", split},
         {"tokens", 9},
         {"loss", 1.0},
         {"seconds", now_},
         {"final", true},
         {"values", {{"bpc", bpc}}},
         {"settings", settings}});
  }
  static void add_model(const fs::path& run, const std::string& weights) {
    create_folders(run / "model");
    write_file(run / "model" / "model.safetensors", weights);
  }
  static std::string model_of(const fs::path& run) { return read_file(run / "model" / "model.safetensors"); }
  static void add_checkpoint(const fs::path& run, int step) {
    create_folders(run / "checkpoints");
    write_file(run / "checkpoints" / fmt::format("step-{:09}.safetensors", step), fmt::format("checkpoint {}", step));
  }
  static std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    if (!fs::exists(folder)) return names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  static void copy(const fs::path& from, const fs::path& to) { fs::copy(from, to, fs::copy_options::recursive); }

  std::vector<MergeOutcome> merge(const std::string& from, const std::string& to, MergeSettings settings = {}) {
    std::vector<MergeOutcome> outcomes;
    for (const MergedRun& run : merge_runs(find_run_folders(place(from)), place(to), settings)) {
      outcomes.push_back(run.outcome);
    }
    return outcomes;
  }

  static std::string journal(const fs::path& run) { return read_file(RunPaths{run}.journal()); }

  /// Every file of a folder of runs but locks, with its bytes.
  std::map<std::string, std::string> content(const std::string& runs) const {
    std::map<std::string, std::string> found;
    for (const fs::path& run : find_run_folders(place(runs))) {
      for (const fs::path& file : run_files(run)) found[(run.filename() / file).string()] = read_file(run / file);
    }
    return found;
  }

  TemporaryFolder folder_;
  fs::path data_;
  double now_ = 100;
};

}  // namespace xlm
