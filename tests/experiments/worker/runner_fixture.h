// Small runs that are planned, submitted and done in their own folder, with a stand-in for core.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/yaml.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/run_plan.h"
#include "experiments/runs/submission.h"
#include "experiments/worker/runner.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/fake_core.h"
#include "tests/temporary_folder.h"

namespace xlm {

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() : data_(make_data(folder_.path() / "data")), runs_(folder_.path() / "runs") {
    ::unsetenv("OMP_NUM_THREADS");
  }

  PlannedRun plan(const std::string& more = "") {
    return Planner(runs_).plan(read_run_options(parse_yaml(run_config(data_, more), "run.yaml")));
  }

  PlannedRun submitted(const std::string& more = "") {
    PlannedRun run = plan(more);
    submit(run);
    return run;
  }

  PlannedRun submitted_with_batch(std::int64_t batch) {
    std::string text = run_config(data_);
    text.replace(text.find("batch: 2"), 8, "batch: " + std::to_string(batch));
    PlannedRun run = Planner(runs_).plan(read_run_options(parse_yaml(text, "run.yaml")));
    submit(run);
    return run;
  }

  RunReport work(const PlannedRun& run, bool retry = false) {
    settings_.retry = retry;
    return execute(
        run.paths.folder, [this]() -> Core& { return core_; }, settings_);
  }

  /// Stops the next worker before its `step`-th step.
  void stop_before(int step) {
    settings_.sink.should_stop = [step, asked = 0]() mutable { return ++asked >= step; };
  }

  std::vector<std::string> steps(const PlannedRun& run) {
    std::ifstream file(run.paths.folder / "steps.log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  TemporaryFolder folder_;
  fs::path data_;
  fs::path runs_;
  FakeCore core_;
  WorkSettings settings_;
};

}  // namespace xlm
