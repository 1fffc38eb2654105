#include "core/train/memory_check.h"

#include <functional>
#include <new>

#include <gmock/gmock.h>

#include "base/error.h"
#include "core/api/adaptive_span_options.h"
#include "core/models/language_model.h"

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
