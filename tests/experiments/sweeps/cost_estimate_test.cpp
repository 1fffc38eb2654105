// Time and arithmetic that the rest of a sweep takes.
#include "experiments/sweeps/cost_estimate.h"

#include <gmock/gmock.h>

#include "experiments/runs/process_identity.h"
#include "experiments/runs/submission.h"
#include "experiments/sweeps/recipe.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/fake_core.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CostEstimateTest : public ::testing::Test {
 protected:
  CostEstimateTest()
      : data_(make_data(folder_.path() / "data", std::string(400, 'a') + std::string(400, 'b'))),
        runs_(folder_.path() / "runs") {}

  std::vector<SweepRun> plan(const std::string& sweep, int eval_every = 0) {
    Yaml tree = parse_yaml(run_config(data_, sweep), "sweep.yaml");
    tree.set("train.eval_every", make_scalar(std::to_string(eval_every), "sweep.yaml"));
    return plan_sweep(recipe_of(tree), runs_, false);
  }

  TemporaryFolder folder_;
  fs::path data_;
  fs::path runs_;
  FakeCore core_;
};

TEST_F(CostEstimateTest, TimeFollowsFromEarlierRunsOfThisMachine) {
  const auto runs = plan("sweep: {grid: {seed: [1, 2]}}\n");
  CostEstimator without([this]() -> Core& { return core_; });
  EXPECT_FALSE(without.of(runs[0]).seconds);
  const MachineSpeed none(runs_, this_process().host);
  EXPECT_FALSE(CostEstimator([this]() -> Core& { return core_; }, &none).of(runs[0]).seconds);

  submit(runs[0].planned);
  Journal journal(runs[0].planned.paths.journal());
  journal.append("state", {{"state", "running"}, {"host", this_process().host}});
  journal.append("costs", {{"values", {{"training_flops", 6000.0}, {"training_seconds", 3.0}}}});
  journal.append("evaluation", {{"step", 10},
                                {"split", "valid"},
                                {"loss", 1.0},
                                {"seconds", 2.0},
                                {"flops", 1000.0},
                                {"final", true},
                                {"values", Json::object()}});
  journal.append("state", {{"state", "done"}});
  const MachineSpeed speed(runs_, this_process().host);
  CostEstimator estimator([this]() -> Core& { return core_; }, &speed);
  const CostEstimate next = estimator.of(runs[1]);
  EXPECT_GT(next.evaluation_flops, 0);
  EXPECT_DOUBLE_EQ(next.seconds.value(), next.flops / 2000);
  EXPECT_DOUBLE_EQ(next.evaluation_seconds.value(), next.evaluation_flops / 500);
  EXPECT_THAT(cost_lines({next}), HasSubstr("evaluations: about"));
  EXPECT_THAT(cost_lines({next}), HasSubstr("of training, "));
  const MachineSpeed elsewhere(runs_, "another-host");
  EXPECT_FALSE(CostEstimator([this]() -> Core& { return core_; }, &elsewhere).of(runs[1]).seconds);
}

TEST_F(CostEstimateTest, EvaluationsWhileTrainingCount) {
  const double few = CostEstimator([this]() -> Core& { return core_; }).of(plan("", 0)[0]).evaluation_flops;
  const double many = CostEstimator([this]() -> Core& { return core_; }).of(plan("", 3)[0]).evaluation_flops;
  EXPECT_GT(few, 0);
  EXPECT_GT(many, few);
}

TEST_F(CostEstimateTest, EvaluationsThatCostMoreThanTrainingAreSaidWithWhatShortensThem) {
  CostEstimate cost{.flops = 10, .evaluation_flops = 10, .final_flops = 9};
  EXPECT_THAT(cost_lines({cost}), Not(HasSubstr("more than training")));
  cost.evaluation_flops = 11;
  EXPECT_THAT(cost_lines({cost}), HasSubstr("they cost more than training; eval.max_windows=N"));
  cost.final_flops = 2;
  EXPECT_THAT(cost_lines({cost}), HasSubstr("more than training; a larger train.eval_every"));
}

TEST_F(CostEstimateTest, RunsThatWarmUpForMostOfTheirStepsAreCounted) {
  const auto open_core = [this]() -> Core& { return core_; };
  EXPECT_TRUE(warmup_warnings(plan("sweep: {grid: {seed: [1, 2]}}\n"), open_core).empty());
  const auto long_ones = plan("sweep: {grid: {seed: [1, 2], optimizer.warmup_steps: [1, 4000]}}\n");
  ASSERT_EQ(warmup_warnings(long_ones, open_core).size(), 1);
  EXPECT_THAT(warmup_warnings(long_ones, open_core)[0], HasSubstr("in 2 runs the warm-up takes 4000 of "));
}

}  // namespace
}  // namespace xlm
