// Which of the GPU's attention kernels are used: a stand-in runs them.
#include "core/kernels/examined_kernels.h"

#include <functional>
#include <memory>
#include <new>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "core/kernels/kernel_trial.h"
#include "tests/core/cuda/fiber_kernels.h"

namespace xlm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using torch::Tensor;

/// Kernels that get other arguments than they should.
class FaultyKernels : public FiberKernels {
 public:
  explicit FaultyKernels(void (*spoil)(band::Arguments&)) : spoil_(spoil) {}
  void forward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    band::Arguments spoilt = arguments;
    spoil_(spoilt);
    FiberKernels::forward(kind, spoilt, heads);
  }
  void backward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    band::Arguments spoilt = arguments;
    spoil_(spoilt);
    FiberKernels::backward(kind, spoilt, heads);
  }

 private:
  void (*spoil_)(band::Arguments&);
};

TEST(FindFault, FaultyKernelsAreFoundBeforeUse) {
  FiberKernels right;
  torch::manual_seed(1);
  const Tensor expected = torch::randn({4});
  torch::manual_seed(1);
  for (const std::int64_t width : {64, 96, 128}) {
    for (const bool two_queries : {false, true}) {
      EXPECT_EQ(find_fault(right, torch::kCPU, width, two_queries), "") << width << ", " << two_queries;
    }
  }
  EXPECT_TRUE(torch::randn({4}).equal(expected)) << "the check for faults changed the random numbers";
  {
    const torch::NoGradGuard evaluating;
    const auto trial = [&] { return find_fault(right, torch::kCPU, 64, false); };
    EXPECT_EQ(fault_of_trial(torch::kCPU, "attention", "", trial), "");
  }

  FaultyKernels scale([](band::Arguments& a) { a.scale *= 1.05F; });
  EXPECT_THAT(find_fault(scale, torch::kCPU, 64, false), HasSubstr("banded attention's value"));
  EXPECT_THAT(find_fault(scale, torch::kCPU, 128, false), HasSubstr("banded attention's value"));
  FaultyKernels gradient([](band::Arguments& a) { a.d_out.row = 0; });
  EXPECT_THAT(find_fault(gradient, torch::kCPU, 64, false), HasSubstr("banded attention's gradient"));
  FaultyKernels relative([](band::Arguments& a) { a.key_offset = a.key_offset > 0 ? a.key_offset - 1 : 0; });
  EXPECT_THAT(find_fault(relative, torch::kCPU, 64, true), HasSubstr("relative attention's value"));
}

/// Kernels of which a test says how much shared memory they have, and what their first calls throw.
class TroubledKernels final : public FiberKernels {
 public:
  struct Trouble {
    int shared_memory = 1 << 18;
    int failures = 0;                 // calls that are to fail
    std::function<void()> fail = {};  // throws
    int calls = 0;
  };

  explicit TroubledKernels(Trouble& trouble) : trouble_(&trouble) {}

  int shared_memory() const override { return trouble_->shared_memory; }
  void forward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    if (trouble_->calls++ < trouble_->failures) trouble_->fail();
    FiberKernels::forward(kind, arguments, heads);
  }

 private:
  Trouble* trouble_;
};

ExaminedKernels examined(TroubledKernels::Trouble& trouble) {
  return {torch::kCPU, [&trouble] { return std::make_unique<TroubledKernels>(trouble); }};
}

TEST(ExaminedKernels, AreComparedOnceForEachWidthAndForm) {
  TroubledKernels::Trouble trouble;
  ExaminedKernels kernels = examined(trouble);
  EXPECT_EQ(kernels.obstacle(64, false), "");
  EXPECT_EQ(trouble.calls, 1);
  EXPECT_EQ(kernels.obstacle(64, false), "");
  EXPECT_EQ(trouble.calls, 1);
  EXPECT_EQ(kernels.obstacle(96, false), "");
  EXPECT_EQ(kernels.obstacle(64, true), "");
  EXPECT_EQ(trouble.calls, 3);
  EXPECT_EQ(kernels.describe(), "own kernels in bfloat16");
}

TEST(ExaminedKernels, ThatRunOutOfMemoryAreExaminedAgain) {
  const std::vector<std::function<void()>> shortages{
      [] {
        throw c10::OutOfMemoryError(c10::SourceLocation{__func__, __FILE__, 0}, "CUDA out of memory");
      },
      [] {
        throw c10::Error(c10::SourceLocation{__func__, __FILE__, 0}, "CUDA error: CUBLAS_STATUS_ALLOC_FAILED");
      },
      [] { throw std::bad_alloc(); }};
  for (const auto& shortage : shortages) {
    TroubledKernels::Trouble trouble{.failures = 2, .fail = shortage};
    ExaminedKernels kernels = examined(trouble);
    EXPECT_ANY_THROW(kernels.obstacle(64, false));
    EXPECT_ANY_THROW(kernels.obstacle(64, false));
    EXPECT_EQ(kernels.obstacle(64, false), "") << "fewer rows leave memory for it";
  }
}

TEST(ExaminedKernels, ThatFailOtherwiseAreNotTriedAgain) {
  TroubledKernels::Trouble trouble{.failures = 1, .fail = [] { throw Error("the driver refuses"); }};
  ExaminedKernels kernels = examined(trouble);
  EXPECT_EQ(kernels.obstacle(64, false), "the driver refuses");
  EXPECT_EQ(kernels.obstacle(64, false), "the driver refuses");
  EXPECT_EQ(trouble.calls, 1);
  EXPECT_EQ(kernels.obstacle(64, true), "") << "another kernel";
}

/// 99 KB are what a block has in compute capability 8.6, 8.9 and 12.0; 163 KB in 8.0.
TEST(ExaminedKernels, ThatDoNotFitAreNeverRun) {
  TroubledKernels::Trouble small{.shared_memory = 99 * 1024};
  ExaminedKernels some = examined(small);
  EXPECT_EQ(some.obstacle(96, false), "a block has 99 KB of shared memory, and heads 96 wide need 109");
  EXPECT_EQ(some.obstacle(128, true), "a block has 99 KB of shared memory, and heads 128 wide need 150");
  EXPECT_EQ(small.calls, 0);
  EXPECT_THAT(
      some.describe(),
      AllOf(testing::StartsWith("own kernels in bfloat16; composed: banded attention 96 wide (a block has 99 KB"),
            HasSubstr("relative attention 128 wide (a block has 99 KB"), Not(HasSubstr("64 wide"))));
  EXPECT_EQ(small.calls, 2);

  TroubledKernels::Trouble least{.shared_memory = 64 * 1024};
  EXPECT_THAT(examined(least).describe(), testing::StartsWith("composed: banded attention 64 wide (a block has 64 KB"));
  EXPECT_EQ(least.calls, 0);

  TroubledKernels::Trouble medium{.shared_memory = 163 * 1024};
  ExaminedKernels all = examined(medium);
  EXPECT_EQ(all.describe(), "own kernels in bfloat16");
  EXPECT_EQ(medium.calls, 6);
}

}  // namespace
}  // namespace xlm
