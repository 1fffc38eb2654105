// The energy of GPUs in the records of runs: of models in this process, and of programs of users.
#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tests/experiments/program_of_user_fixture.h"
#include "tests/experiments/worker/fake_nvml.h"
#include "tests/experiments/worker/runner_fixture.h"

namespace xlm {
namespace {

/// The worker asks for libnvidia-ml.so.1 and gets the stand-in, which is open under that name.
class GpuEnergyOfRuns : public RunnerTest {
 protected:
  GpuEnergyOfRuns() : library_(::dlopen(XLM_FAKE_NVML_LIBRARY, RTLD_NOW)) {
    EXPECT_NE(library_, nullptr);
    ::setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
  }
  ~GpuEnergyOfRuns() override { ::dlclose(library_); }

  /// Changes the cards after so many steps, and stops the worker after `last` of them; 0: never.
  void change_cards(const PlannedRun& run, std::size_t after, const std::string& cards, std::size_t last = 0) {
    settings_.sink.should_stop = [this, &run, after, cards, last] {
      const std::size_t done = steps(run).size();
      if (done == after) nvml_.set(cards);
      return last > 0 && done >= last;
    };
  }

  static std::map<std::string, double> costs(const PlannedRun& run) { return read_run(run.paths.folder).costs; }

  FakeNvml nvml_;
  void* library_;
};

TEST_F(GpuEnergyOfRuns, IsThatOfTheRunsCardInAllAttempts) {
  core_.device = "cuda:1";
  const PlannedRun run = submitted();
  nvml_.set("GPU-a A100 1000\nGPU-b A100 5000\n");
  change_cards(run, 2, "GPU-a A100 900000\nGPU-b A100 12000\n", 5);
  ASSERT_EQ(work(run).status, RunStatus::kPreempted);
  EXPECT_DOUBLE_EQ(costs(run).at("energy_gpu"), 7);
  change_cards(run, 7, "GPU-a A100 900000\nGPU-b A100 13500\n");
  ASSERT_EQ(work(run).status, RunStatus::kDone);
  EXPECT_DOUBLE_EQ(costs(run).at("energy_gpu"), 8.5);
}

TEST_F(GpuEnergyOfRuns, IsMissingOnTheProcessorAndWithoutADriver) {
  nvml_.set("GPU-a A100 1000\n");
  const PlannedRun on_processor = submitted("seed: 2\n");
  ASSERT_EQ(work(on_processor).status, RunStatus::kDone);
  EXPECT_FALSE(costs(on_processor).contains("energy_gpu"));
  core_.device = "cuda:0";
  const PlannedRun on_gpu = submitted("seed: 3\n");
  ASSERT_EQ(work(on_gpu).status, RunStatus::kDone);
  EXPECT_TRUE(costs(on_gpu).contains("energy_gpu"));
  nvml_.unload_driver();
  const PlannedRun without_driver = submitted("seed: 4\n");
  ASSERT_EQ(work(without_driver).status, RunStatus::kDone);
  EXPECT_FALSE(costs(without_driver).contains("energy_gpu"));
}

/// A training that uses 3 J of the first card and 4 J of the second.
constexpr const char* kTrainingOnCards = R"(import json, os
cards = os.environ["XLM_FAKE_NVML"]
with open(cards + ".new", "w") as file:
    file.write("GPU-a A100 4000\nGPU-b A100 6000\n")
os.replace(cards + ".new", cards)
with open(os.environ["XLM_METRICS"], "a") as file:
    file.write(json.dumps({"step": 1, "loss": 2.5}) + "\n")
)";

class GpuEnergyOfPrograms : public ProgramOfUser {
 protected:
  GpuEnergyOfPrograms() {
    ::setenv("LD_LIBRARY_PATH", fs::path(XLM_FAKE_NVML_LIBRARY).parent_path().c_str(), 1);
    ::setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
    write_script("train.py", kTrainingOnCards);
  }
  ~GpuEnergyOfPrograms() override { ::unsetenv("LD_LIBRARY_PATH"); }

  /// Of a run with these further settings.
  std::map<std::string, double> costs(const std::string& rest) {
    fs::remove_all(runs_);
    nvml_.set("GPU-a A100 1000\nGPU-b A100 2000\n");
    configure("[python3, train.py]", "", rest);
    const ProgramResult result = run({"train", "run.yaml"});
    EXPECT_EQ(result.code, kDone) << result.err;
    return only_run().costs;
  }

  FakeNvml nvml_;
};

TEST_F(GpuEnergyOfPrograms, IsThatOfTheCardsThatTheProgramSees) {
  EXPECT_DOUBLE_EQ(costs("").at("energy_gpu"), 7);
  EXPECT_DOUBLE_EQ(costs("device: cuda:1\n").at("energy_gpu"), 4);
  EXPECT_FALSE(costs("device: cpu\n").contains("energy_gpu"));
}

}  // namespace
}  // namespace xlm
