// What a run will compute, counted place by place for comparison.
#include "experiments/configuration/run_arithmetic.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/api/arithmetic.h"
#include "experiments/configuration/configuration.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/fake_core.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

/// Scored and read positions of windows over one row, one window after the other.
std::pair<std::int64_t, std::int64_t> windows_one_by_one(const EvalOptions& eval, std::int64_t predictions) {
  std::int64_t scored = 0;
  std::int64_t computed = 0;
  std::int64_t windows = 0;
  for (std::int64_t first = 0; first < predictions; first += eval.stride) {
    if (eval.max_windows > 0 && windows++ == eval.max_windows) break;
    const std::int64_t here = std::min(eval.stride, predictions - first);
    scored += here;
    computed += here + std::min(first, eval.context - eval.stride);
  }
  return {scored, computed};
}

TEST(EvaluationSize, IsThatOfEveryWindow) {
  for (const std::int64_t tokens : {0, 1, 7, 64, 99, 1000}) {
    for (const std::int64_t stride : {1, 3, 8}) {
      for (const std::int64_t most : {0, 1, 4}) {
        EvalOptions eval;
        eval.batch = 2;
        eval.context = 8;
        eval.stride = stride;
        eval.max_windows = most;
        const auto [scored, computed] = windows_one_by_one(eval, tokens);
        const EvaluationSize random = evaluation_size(TextScheme::kRandomWindows, eval, 16, tokens);
        EXPECT_EQ(random.scored, scored) << tokens << " " << stride << " " << most;
        EXPECT_EQ(random.computed, computed) << tokens << " " << stride << " " << most;
        EXPECT_EQ(random.block, 8);
        const auto row = windows_one_by_one(eval, std::max<std::int64_t>(0, tokens / 2 - 1));
        const EvaluationSize rows = evaluation_size(TextScheme::kRotatedChunks, eval, 16, tokens);
        EXPECT_EQ(rows.scored, 2 * row.first);
        EXPECT_EQ(rows.computed, 2 * row.second);
      }
    }
  }
  EvalOptions eval;
  eval.batch = 3;
  EXPECT_EQ(evaluation_size(TextScheme::kStreaming, eval, 16, 100).scored, 3 * 32);
  EXPECT_EQ(evaluation_size(TextScheme::kStreaming, eval, 16, 100).block, 16);
  eval.max_windows = 1;
  EXPECT_EQ(evaluation_size(TextScheme::kStreaming, eval, 16, 100).scored, 3 * 16);
  EXPECT_EQ(evaluation_size(TextScheme::kWindows, eval, 16, 100).scored, 16);
}

class RunArithmeticTest : public ::testing::Test {
 protected:
  RunArithmeticTest() : data_(make_data(folder_.path() / "data", std::string(400, 'a') + std::string(400, 'b'))) {}

  RunArithmetic of(const std::string& train, const std::string& rest = "") {
    const RunOptions options = read_run_options(parse_yaml(
        "data: {path: " + data_.string() + "}\nmodel: {type: adaptive-span}\noptimizer: {warmup_steps: 0}\n" +
            "eval: {batch: 2" + rest + "}\ntrain: {batch: 2, block: 8, " + train + "}\n",
        "run.yaml"));
    return estimator_.of(options, 5);
  }

  TemporaryFolder folder_;
  fs::path data_;
  FakeCore core_;  // 10 FLOPs for each token
  ArithmeticEstimator estimator_{[this]() -> Core& { return core_; }};
};

TEST_F(RunArithmeticTest, ABudgetOfFlopsIsSoManySteps) {
  const double step = 3 * 10.0 * 2 * 8;
  EXPECT_EQ(of("steps: 7").steps.count, 7);
  EXPECT_EQ(of("steps: 7").step_flops, step);
  EXPECT_EQ(of("flops: 480").steps.count, 1);
  EXPECT_EQ(of("flops: 4800").steps.count, 10);
  EXPECT_EQ(of("flops: 4801").steps.count, 11) << "the run ends when the budget is reached";
  EXPECT_TRUE(of("flops: 4801").steps.is_exact);
  EXPECT_EQ(of("flops: 1").steps.count, 1);
  EXPECT_EQ(of("seconds: 60").steps.count, 0) << "not known";
}

TEST_F(RunArithmeticTest, EvaluationsWhileTrainingMayReadAPart) {
  const RunArithmetic whole = of("steps: 7");
  EXPECT_GT(whole.during_flops, 0);
  EXPECT_GE(whole.final_flops, whole.during_flops);
  const RunArithmetic part = of("steps: 7", ", during: {share: 0.5}");
  EXPECT_LT(part.during_flops, 0.6 * whole.during_flops);
  EXPECT_EQ(part.final_flops, whole.final_flops);
}

TEST_F(RunArithmeticTest, OneLengthMustBeGiven) {
  EXPECT_THROW(of("steps: 7, flops: 100"), UsageError);
  EXPECT_THROW(of("flops: 100, seconds: 3"), UsageError);
  EXPECT_THROW(of("flops: 0"), UsageError);
  EXPECT_THROW(of("flops: -1"), UsageError);
}

}  // namespace
}  // namespace xlm
