// Which kernel computes which call, and that the table says why.
#include "core/kernels/kernel_table.h"

#include <gmock/gmock.h>

#include <vector>

#include "core/kernels/packed_operands.h"

namespace xlm {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(KernelTable, OnTheCpuInFloat32OwnKernelsAreUsed) {
  const KernelCall call;
  for (const Operation operation : {Operation::kLinear, Operation::kBandedAttention, Operation::kRelativeAttention,
                                    Operation::kTanhGelu, Operation::kResidualNorm, Operation::kCrossEntropy}) {
    EXPECT_EQ(choose_kernel(operation, call), KernelVersion::kOwn) << static_cast<int>(operation);
  }
}

TEST(KernelTable, OwnCausalAttentionIsForTilesOfQueriesOnAmdsProcessors) {
  const bool intel = __builtin_cpu_is("intel") != 0;
  EXPECT_EQ(choose_kernel(Operation::kCausalAttention, {}), intel ? KernelVersion::kComposed : KernelVersion::kOwn);
  EXPECT_EQ(choose_kernel(Operation::kCausalAttention, {.queries = 1}), KernelVersion::kComposed);
  EXPECT_EQ(choose_kernel(Operation::kCausalAttention, {.queries = 100'000}),
            intel ? KernelVersion::kComposed : KernelVersion::kOwn);
}

TEST(KernelTable, TheNextVersionComputesWhatOneLacks) {
  EXPECT_EQ(choose_kernel(Operation::kLinear, {.type = torch::kDouble}), KernelVersion::kComposed);
  EXPECT_EQ(choose_kernel(Operation::kLinear, {.empty = true}), KernelVersion::kComposed);
  EXPECT_EQ(choose_kernel(Operation::kCausalAttention, {.dropout = true}), KernelVersion::kPlain);
  EXPECT_EQ(choose_kernel(Operation::kTanhGelu, {.type = torch::kDouble}), KernelVersion::kComposed);
  EXPECT_EQ(choose_kernel(Operation::kResidualNorm, {.type = torch::kBFloat16}), KernelVersion::kComposed);
  EXPECT_EQ(choose_kernel(Operation::kCrossEntropy, {.symbols = 1023}), KernelVersion::kPlain);
  EXPECT_EQ(choose_kernel(Operation::kCrossEntropy, {.type = torch::kBFloat16}), KernelVersion::kPlain);
}

TEST(KernelTable, AGpuHasNoneOfTheCpusLoops) {
  const torch::Device gpu("cuda:0");
  EXPECT_EQ(choose_kernel(Operation::kLinear, {.device = gpu}), KernelVersion::kComposed);
  EXPECT_EQ(choose_kernel(Operation::kResidualNorm, {.device = gpu}), KernelVersion::kComposed);
  EXPECT_EQ(choose_kernel(Operation::kCausalAttention, {.device = gpu, .dropout = true}), KernelVersion::kComposed);
  EXPECT_EQ(choose_kernel(Operation::kBandedAttention, {.device = gpu}), KernelVersion::kComposed);
  EXPECT_EQ(choose_kernel(Operation::kCrossEntropy, {.device = gpu}), KernelVersion::kComposed);
}

TEST(KernelTable, Bfloat16IsWidenedIfTheProcessorLacksIt) {
  const bool widened = !has_bfloat16_products();
  EXPECT_EQ(choose_kernel(Operation::kLinear, {.autocast = true}),
            widened ? KernelVersion::kWidened : KernelVersion::kComposed);
  const KernelCall attention{.type = torch::kBFloat16, .autocast = true};
  EXPECT_EQ(choose_kernel(Operation::kCausalAttention, attention) == KernelVersion::kWidened, widened);
}

TEST(KernelTable, ACallIsReadOffItsTensor) {
  const KernelCall call = attention_call(torch::zeros({2, 3, 5, 64}, torch::kDouble), 0.1);
  EXPECT_TRUE(call.device.is_cpu());
  EXPECT_EQ(call.type, torch::kDouble);
  EXPECT_EQ(call.head_width, 64);
  EXPECT_EQ(call.heads, 6);
  EXPECT_EQ(call.queries, 5);
  EXPECT_TRUE(call.dropout);
  EXPECT_FALSE(call.autocast);
  EXPECT_TRUE(kernel_call(torch::zeros({0, 4})).empty);
}

TEST(KernelTable, EveryChoiceSaysWhyEarlierVersionsAreNotUsed) {
  const std::vector<KernelChoice> choices = kernel_choices(torch::kCPU, false);
  ASSERT_EQ(choices.size(), 9U);
  EXPECT_EQ(choices[1].operation, "linear layers");
  EXPECT_THAT(choices[1].passed_over, Contains(HasSubstr("no product in bfloat16 is asked for")));
  EXPECT_THAT(choices[3].passed_over, IsEmpty());
}

}  // namespace
}  // namespace xlm
