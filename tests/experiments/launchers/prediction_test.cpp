// What finished runs of other sweeps say of the time and memory of those that are to be done.
#include "experiments/launchers/prediction.h"

#include <gmock/gmock.h>

#include "experiments/configuration/configuration.h"
#include "experiments/runs/submission.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/experiment_files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr double kStepFlops = 1e6;  // of the runs that are to be done

class Prediction : public testing::Test {
 protected:
  void SetUp() override { data_ = make_data(folder_.path() / "data"); }

  /// A sweep of two runs of ten steps, of which nothing is done.
  std::vector<SweepRun> sweep(const std::string& more = "sweep: {grid: {seed: [1, 2]}}\n") const {
    return plan_sweep(parse_yaml(run_config(data_, more), "sweep.yaml"), folder_.path() / "runs", false);
  }

  /// Finished, with that shape; a step took 100 s.
  static FinishedRun finished(const std::string& id, const std::string& shape) {
    return {.id = id,
            .experiment = "earlier",
            .shape = shape,
            .model = "adaptive-span",
            .device = "cpu",
            .steps = 10,
            .step_seconds = 100,
            .step_flops = kStepFlops,
            .peak_memory = 2e8};
  }

  static std::string shape(const SweepRun& run) {
    return shape_of(run.planned.options, run.planned.inputs.data.symbols);
  }

  static Experience experience(std::vector<FinishedRun> runs) {
    const CostEstimate each{.params = 1000, .flops = 10 * kStepFlops};
    return {.finished = std::move(runs), .costs = {each, each}};
  }

  TemporaryFolder folder_;
  fs::path data_;
};

TEST_F(Prediction, IsThatOfTheSlowestAndLargestRunOfTheSameShape) {
  const std::vector<SweepRun> runs = sweep();
  FinishedRun slow = finished("slow", shape(runs[0]));
  slow.step_seconds = 200;
  slow.peak_memory = 1e8;
  const Resources predicted = predicted_resources(runs, experience({finished("quick", shape(runs[0])), slow}), "cpu");
  EXPECT_EQ(predicted.time.value, 3000) << "10 steps of 200 s, half as much again";
  EXPECT_EQ(predicted.time.source, "run slow of experiment earlier: 10 steps at its speed, and half as much again");
  EXPECT_DOUBLE_EQ(predicted.memory.value, 3e8);
  EXPECT_EQ(predicted.memory.source, "run quick of experiment earlier: what it took, and half as much again");
}

TEST_F(Prediction, NodesShareTheMemoryOfARun) {
  const std::vector<SweepRun> runs = sweep();
  const Need memory = predicted_resources(runs, experience({finished("whole", shape(runs[0]))}), "cpu", 2).memory;
  EXPECT_DOUBLE_EQ(memory.value, 1.5e8);
  EXPECT_EQ(memory.source, "run whole of experiment earlier: what it took, over 2 nodes, and half as much again");
}

TEST_F(Prediction, ATrialCountsOnlyWhereThereIsNothingLonger) {
  const std::vector<SweepRun> runs = sweep();
  FinishedRun trial = finished("trial", shape(runs[0]));
  trial.steps = 0.9;  // less than a tenth of ten
  trial.step_seconds = 1000;
  FinishedRun shorter = trial;
  shorter.id = "shorter";
  shorter.steps = 0.5;
  shorter.step_seconds = 5000;
  const auto source = [&](const std::vector<FinishedRun>& known) {
    return predicted_resources(runs, experience(known), "cpu").time.source;
  };
  EXPECT_THAT(source({trial, finished("whole", shape(runs[0]))}), testing::StartsWith("run whole"));
  EXPECT_THAT(source({finished("whole", shape(runs[0])), trial}), testing::StartsWith("run whole"));
  EXPECT_THAT(source({shorter, trial}), testing::StartsWith("run trial"));
}

TEST_F(Prediction, GoesByTheFlopsOfTheNearestRunWhereNoneHasTheShape) {
  FinishedRun near = finished("near", "another");
  near.step_flops = 0.5 * kStepFlops;
  near.experiment = "";
  FinishedRun far = finished("far", "a third");
  far.step_flops = 100 * kStepFlops;
  const Resources predicted = predicted_resources(sweep(), experience({far, near}), "cpu");
  EXPECT_EQ(predicted.time.value, 4200) << "10 MFLOPs at 5,000 a second, and as much again, in whole ten minutes";
  EXPECT_EQ(predicted.time.source, "by the FLOPs of run near: 10.0M at its 5.00k a second, and as much again");
  EXPECT_FALSE(predicted.memory.known()) << "FLOPs say nothing of it";
}

TEST_F(Prediction, IsNotMadeFromAnotherDeviceModelOrPrecision) {
  const std::vector<SweepRun> runs = sweep();
  EXPECT_FALSE(predicted_resources(runs, experience({finished("cpu", shape(runs[0]))}), "cuda").time.known());
  FinishedRun other = finished("other", "another");
  other.model = "gpt2";
  EXPECT_FALSE(predicted_resources(runs, experience({other}), "cpu").time.known());
  other = finished("other", "another");
  other.precision = Precision::kBfloat16;
  EXPECT_FALSE(predicted_resources(runs, experience({other}), "cpu").time.known());
  EXPECT_FALSE(predicted_resources(runs, {.finished = {finished("other", "another")}, .costs = {}}, "cpu").time.known())
      << "nobody knows how many FLOPs there are";
}

TEST_F(Prediction, OfMemoryOnAGpuIsNoneOfMainMemory) {
  const std::vector<SweepRun> runs = sweep();
  FinishedRun gpu = finished("gpu", shape(runs[0]));
  gpu.device = "cuda";
  const Resources predicted = predicted_resources(runs, experience({gpu}), "cuda");
  EXPECT_EQ(predicted.time.value, 1800);
  EXPECT_FALSE(predicted.memory.known());
}

TEST_F(Prediction, IsNotMadeWhereNothingIsKnownOfOneRun) {
  const std::vector<SweepRun> runs = sweep("sweep: {grid: {model.span: [16, 8]}}\n");
  ASSERT_NE(shape(runs[0]), shape(runs[1]));
  Experience one = experience({finished("one", shape(runs[0]))});
  EXPECT_TRUE(predicted_resources(runs, one, "cpu").time.known()) << "the other by its FLOPs";
  EXPECT_FALSE(predicted_resources(runs, one, "cpu").memory.known());
  one.costs.clear();
  EXPECT_FALSE(predicted_resources(runs, one, "cpu").time.known());
}

TEST_F(Prediction, CountsTheStepsThatAreLeftOfRunsThatAreToBeDone) {
  std::vector<SweepRun> runs = sweep();
  const Experience known = experience({finished("known", shape(runs[0]))});
  runs[0].checkpoint = 4;
  runs[1].action = SweepAction::kLeave;
  EXPECT_EQ(predicted_resources(runs, known, "cpu").time.value, 1200) << "6 steps: 900 s";
  runs[0].status = name_of(RunStatus::kDone);  // evaluations alone are left
  EXPECT_FALSE(predicted_resources(runs, known, "cpu").time.known());
}

TEST_F(Prediction, AFinishedRunSaysWhatItsFolderHolds) {
  const std::vector<SweepRun> runs = sweep("experiment: mine\nsweep: {grid: {seed: [1, 2]}}\n");
  const PlannedRun& planned = runs[0].planned;
  submit(planned);
  double time = 100;
  Journal journal(planned.paths.journal(), [&] { return time; });
  journal.append("state", {{"state", "running"}});
  journal.append("costs", {{"values", {{"peak_memory", 2e8}, {"flops_per_token", 50}}}});
  journal.append("metric", {{"step", 10}, {"values", {{"loss", 1}}}});
  EXPECT_FALSE(finished_run(read_run(planned.paths.folder)).has_value()) << "it runs";
  time = 180;
  journal.append("state", {{"state", "done"}});
  Json environment = read_json(planned.paths.environment());
  environment["device"] = "cuda:0";
  write_file(planned.paths.environment(), environment.dump());
  const std::optional<FinishedRun> finished = finished_run(read_run(planned.paths.folder));
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->id, runs[0].id());
  EXPECT_EQ(finished->experiment, "mine");
  EXPECT_EQ(finished->shape, shape(runs[1])) << "the seed makes no difference";
  EXPECT_EQ(finished->model, "adaptive-span");
  EXPECT_EQ(finished->device, "cuda");
  EXPECT_EQ(finished->step_seconds, 8);
  EXPECT_EQ(finished->step_flops, 3 * 50 * 2 * 4);
  EXPECT_EQ(finished->peak_memory, 2e8);
  environment.erase("symbols");
  write_file(planned.paths.environment(), environment.dump());
  EXPECT_FALSE(finished_run(read_run(planned.paths.folder)).has_value());
}

TEST(RunShape, IsOfTheModelTheBatchAndTheSymbols) {
  RunOptions options = default_run_options(0);
  const std::string shape = shape_of(options, 27);
  EXPECT_NE(shape_of(options, 28), shape);
  const auto differs = [&](const auto& change) {
    RunOptions other = options;
    change(other);
    return shape_of(other, 27) != shape;
  };
  EXPECT_TRUE(differs([](RunOptions& other) { other.train.batch += 1; }));
  EXPECT_TRUE(differs([](RunOptions& other) { other.train.block += 1; }));
  EXPECT_TRUE(differs([](RunOptions& other) { other.train.precision = Precision::kBfloat16; }));
  EXPECT_TRUE(differs([](RunOptions& other) { other.train.processes += 1; }));
  EXPECT_FALSE(differs([](RunOptions& other) { other.train.steps += 1; }));
  EXPECT_FALSE(differs([](RunOptions& other) { other.optimizer.lr *= 2; }));
  EXPECT_FALSE(differs([](RunOptions& other) { other.init_from = "elsewhere"; }));
}

TEST(SecondsOfAStep, EndWithTheLastSignOfAProcessThatWasLost) {
  xlm::Run run;
  run.step = 10;
  const std::string running(name_of(RunStatus::kRunning));
  run.history = {{.time = 100, .state = running},
                 {.time = 90000, .state = std::string(name_of(RunStatus::kQueued)), .cause = "node"},
                 {.time = 90010, .state = running},
                 {.time = 90060, .state = std::string(name_of(RunStatus::kDone))}};
  run.checkpoints = {{.step = 5, .time = 140, .file = ""}, {.step = 10, .time = 90050, .file = ""}};
  EXPECT_DOUBLE_EQ(seconds_of_step(run), (40 + 50) / 10.0);
  run.history[1].cause = "";  // it said so itself, such as when it made way
  run.history[1].time = 150;
  EXPECT_DOUBLE_EQ(seconds_of_step(run), (50 + 50) / 10.0);
}

}  // namespace
}  // namespace xlm
