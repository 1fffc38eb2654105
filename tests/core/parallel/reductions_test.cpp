// Tensors over all processes of a run; here each process is a thread.
#include "core/parallel/reductions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/parallel/threads_group.h"

namespace xlm {
namespace {

using ::testing::Each;

TEST(Reductions, OneProcessNeedsNoOther) {
  EXPECT_EQ(join({}, torch::kCPU), nullptr);
  EXPECT_EQ(own_rows(nullptr, 7).count, 7);
}

TEST(Reductions, RowsAreSharedWithoutAGapAndGatheredInOrder) {
  for (const std::int64_t rows : {3, 4, 7, 12}) {
    const torch::Tensor whole = torch::arange(rows * 2, torch::kFloat).view({rows, 2});
    const auto errors = ThreadsGroup(3).run([&](ProcessGroup& group) {
      const OwnRows own = own_rows(&group, rows);
      EXPECT_GE(own.count, 1);
      const torch::Tensor gathered = gather_rows(group, whole.narrow(0, own.begin, own.count), rows);
      EXPECT_TRUE(gathered.equal(whole)) << gathered;
    });
    EXPECT_THAT(errors, Each(""));
  }
}

TEST(Reductions, GradientsAddUpIfOnlySomeProcessesHaveThem) {
  for (const torch::ScalarType type : {torch::kFloat, torch::kDouble}) {
    const auto errors = ThreadsGroup(2).run([&](ProcessGroup& group) {
      const auto weight = [&](std::int64_t size) { return torch::zeros({size}, type).requires_grad_(); };
      const NamedTensors weights{{"both", weight(3)}, {"one", weight(2)}, {"none", weight(2)}};
      weights[0].second.mutable_grad() = torch::full({3}, 1.0 + static_cast<double>(group.rank()), type);
      if (group.rank() == 1) weights[1].second.mutable_grad() = torch::full({2}, 5.0, type);
      sum_gradients(group, weights);
      EXPECT_TRUE(weights[0].second.grad().equal(torch::full({3}, 3.0, type)));
      EXPECT_TRUE(weights[1].second.grad().equal(torch::full({2}, 5.0, type)));
      EXPECT_FALSE(weights[2].second.grad().defined());
    });
    EXPECT_THAT(errors, Each(""));
  }
}

}  // namespace
}  // namespace xlm
