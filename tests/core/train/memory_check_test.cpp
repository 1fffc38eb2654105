#include "core/train/memory_check.h"

#include <algorithm>
#include <functional>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "base/error.h"
#include "core/api/adaptive_span_options.h"
#include "core/models/language_model.h"
#include "core/models/model_costs.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

RunOptions options_of(std::int64_t width) {
  RunOptions options;
  options.model = ModelOptions(AdaptiveSpanOptions{.width = width, .heads = 2, .layers = 1, .span = 16});
  return options;
}

TEST(MemoryCheck, CountsWeightsGradientsAndAverages) {
  RunOptions options = options_of(8);
  const auto weights = static_cast<std::uint64_t>(make_model(options.model, 3)->parameter_count());
  for (const OptimizerOptions::Type type : {OptimizerOptions::Type::kAdam, OptimizerOptions::Type::kAdamW}) {
    options.optimizer.type = type;
    EXPECT_NO_THROW(check_memory(options, 3, torch::kCPU, 16 * weights));
    EXPECT_THROW(check_memory(options, 3, torch::kCPU, 16 * weights - 1), ResourceError);
  }
  for (const OptimizerOptions::Type type : {OptimizerOptions::Type::kAdagrad, OptimizerOptions::Type::kMuon}) {
    options.optimizer.type = type;
    EXPECT_NO_THROW(check_memory(options, 3, torch::kCPU, 12 * weights));
    EXPECT_THROW(check_memory(options, 3, torch::kCPU, 12 * weights - 1), ResourceError);
  }
  EXPECT_NO_THROW(check_memory(options, 3, torch::kCUDA, 0)) << "a GPU is not checked";
}

/// 5.6 thousand million weights, without time or memory for them.
TEST(MemoryCheck, WorksForAModelOfAnySize) {
  EXPECT_THAT([&] { check_memory(options_of(1 << 15), 27, torch::kCPU, std::uint64_t{1} << 30); },
              ThrowsMessage<ResourceError>(HasSubstr("GB; this process may use 1.1 GB")));
}

TEST(MemoryCheck, AStepWithoutEnoughMemoryAdvisesSmallerSettings) {
  EXPECT_EQ(within_memory_of_a_step(5, [] { return 2.5; }), 2.5);
  try {
    within_memory_of_a_step(5, []() -> double { throw std::bad_alloc(); });
    FAIL();
  } catch (const StepMemoryError& error) {
    EXPECT_EQ(error.rows(), 5) << "the next attempt computes half of them";
    EXPECT_THAT(error.what(), HasSubstr("a smaller train.micro_batch"));
  }
  EXPECT_THROW(within_memory_of_a_step(5, [] { return torch::ones(2).add(torch::ones(3)).sum().item<double>(); }),
               c10::Error)
      << "other errors are passed on";
}

/// The plan for `rows` rows, and the numbers of rows that are measured for it.
std::pair<RowsAtOnce, std::vector<std::int64_t>> plan_for(
    std::int64_t rows, double available, const std::function<std::optional<double>(std::int64_t)>& bytes_of) {
  std::vector<std::int64_t> asked;
  const RowsAtOnce plan = rows_in_memory(rows, available, [&](std::int64_t count) {
    asked.push_back(count);
    return bytes_of(count);
  });
  return {plan, asked};
}

void expect_plan(const std::pair<RowsAtOnce, std::vector<std::int64_t>>& plan, std::int64_t rows, double bytes_of_all,
                 const std::vector<std::int64_t>& asked) {
  EXPECT_EQ(plan.first.rows, rows);
  EXPECT_EQ(plan.first.bytes_of_all, bytes_of_all);
  EXPECT_EQ(plan.second, asked);
}

TEST(RowsInMemory, ArePredictedFromFew) {
  const auto linear = [](std::int64_t rows) { return std::optional(10 + 2 * static_cast<double>(rows)); };
  expect_plan(plan_for(64, 1000, linear), 64, 138, {1, 2});
  expect_plan(plan_for(64, 138, linear), 64, 138, {1, 2});
  expect_plan(plan_for(64, 50, linear), 16, 138, {1, 2, 4, 8, 16});  // 20 fit: 4 parts
  expect_plan(plan_for(64, 11, linear), 1, 0, {1});
  expect_plan(plan_for(1, 1000, linear), 1, 12, {1});
  const auto steep = [](std::int64_t rows) { return std::optional(10 * static_cast<double>(rows)); };
  expect_plan(plan_for(6, 40, steep), 3, 60, {1, 2, 4});  // 4 fit: 2 parts
}

/// As logits are, which are computed in pieces.
TEST(RowsInMemory, OfCostsThatStopGrowingAreNotUnderestimated) {
  const auto saturating = [](std::int64_t rows) {
    return std::optional(10 * static_cast<double>(std::min<std::int64_t>(rows, 4)) + static_cast<double>(rows));
  };
  expect_plan(plan_for(64, 110, saturating), 64, 104, {1, 2, 4, 8});
}

TEST(RowsInMemory, AreThoseThatWereComputedIfMoreRunOutOfMemory) {
  const auto until_four = [](std::int64_t rows) {
    return rows <= 4 ? std::optional(10 + 2 * static_cast<double>(rows)) : std::nullopt;
  };
  expect_plan(plan_for(64, 100, until_four), 4, 138, {1, 2, 4, 8});
  expect_plan(plan_for(64, 100, [](std::int64_t) { return std::optional<double>(); }), 1, 0, {1});
  const auto only_one = [](std::int64_t rows) { return rows == 1 ? std::optional(12.0) : std::nullopt; };
  expect_plan(plan_for(64, 100, only_one), 1, 0, {1, 2});
}

TEST(MemoryCheck, AStepForWhichAnotherPartOfCudaHasNoMemoryAdvisesTheSame) {
  for (const char* text : {"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
                           "CUDA error: out of memory\nSearch for `cudaErrorMemoryAllocation'"}) {
    EXPECT_THAT(
        [&] {
          within_memory_of_a_step(5, [&]() -> double {
            throw c10::Error(c10::SourceLocation{__func__, __FILE__, 0}, text);
          });
        },
        ThrowsMessage<MemoryError>(
            AllOf(HasSubstr("out of memory: CUDA error: "), HasSubstr("a smaller train.micro_batch"))));
  }
}

}  // namespace
}  // namespace xlm
