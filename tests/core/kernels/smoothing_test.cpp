// Exponential smoothing against its definition, one place at a time.
#include <functional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/kernels/segment_pooling.h"

namespace xlm {
namespace {

using Smooth = std::function<torch::Tensor(const torch::Tensor& x, const torch::Tensor& share)>;

torch::Tensor smoothed_by_loop(const torch::Tensor& x, const torch::Tensor& share) {
  std::vector<torch::Tensor> rows;
  torch::Tensor last = torch::zeros({x.size(0), x.size(2)}, x.options().requires_grad(false));
  for (std::int64_t j = 0; j < x.size(1); ++j) {
    const torch::Tensor p = share.select(1, j).unsqueeze(-1);
    last = p * x.select(1, j) + (1 - p) * last;
    rows.push_back(last);
  }
  return torch::stack(rows, 1);
}

struct Smoothed {
  torch::Tensor value, of_x, of_share;
};

Smoothed smoothed_with_gradients(const Smooth& smooth, const torch::Tensor& x, const torch::Tensor& share,
                                 const torch::Tensor& upstream) {
  const torch::Tensor own_x = x.clone().set_requires_grad(true);
  const torch::Tensor own_share = share.clone().set_requires_grad(true);
  const torch::Tensor value = smooth(own_x, own_share);
  (value * upstream).sum().backward();
  return {value.detach(), own_x.grad(), own_share.grad()};
}

/// Fewer and more rows than powers of two. Shares of 0 and 1 are among them.
TEST(Smoothing, EqualsItsDefinitionInValueAndGradients) {
  torch::manual_seed(4);
  for (const auto& [count, width] : {std::pair(1, 3), std::pair(2, 3), std::pair(7, 5), std::pair(33, 300)}) {
    const torch::Tensor x = torch::randn({3, count, width}, torch::kDouble);
    torch::Tensor share = torch::rand({3, count}, torch::kDouble);
    share.select(0, 1).select(0, count / 2).fill_(0);
    share.select(0, 2).select(0, count / 2).fill_(1);
    const torch::Tensor upstream = torch::randn({3, count, width}, torch::kDouble);
    const Smoothed expected = smoothed_with_gradients(smoothed_by_loop, x, share, upstream);
    const Smoothed actual = smoothed_with_gradients(smoothed, x, share, upstream);
    EXPECT_TRUE(torch::allclose(actual.value, expected.value, 1e-12, 1e-13)) << count;
    EXPECT_TRUE(torch::allclose(actual.of_x, expected.of_x, 1e-12, 1e-13)) << count;
    EXPECT_TRUE(torch::allclose(actual.of_share, expected.of_share, 1e-11, 1e-12)) << count;
  }
}

TEST(Smoothing, KeepsLittleOfShortSharesAndAllOfZero) {
  const torch::Tensor x = torch::tensor({{{8.0, -4.0}, {1.0, 1.0}, {3.0, 5.0}}}, torch::kDouble);
  const torch::Tensor share = torch::tensor({{0.5, 0.0, 0.25}}, torch::kDouble);
  const torch::Tensor expected = torch::tensor({{{4.0, -2.0}, {4.0, -2.0}, {3.75, -0.25}}}, torch::kDouble);
  EXPECT_TRUE(torch::equal(smoothed(x, share), expected));
}

TEST(Smoothing, ALaterRowChangesNoBitOfEarlierOnes) {
  torch::manual_seed(6);
  const torch::Tensor x = torch::randn({2, 21, 40});
  const torch::Tensor share = torch::rand({2, 21});
  const torch::Tensor before = smoothed(x, share);
  for (const std::int64_t row : {1, 8, 20}) {
    torch::Tensor other_x = x.clone();
    torch::Tensor other_share = share.clone();
    other_x.select(1, row).add_(1);
    other_share.select(1, row).mul_(0.5);
    const torch::Tensor after = smoothed(other_x, other_share);
    EXPECT_TRUE(torch::equal(after.narrow(1, 0, row), before.narrow(1, 0, row))) << row;
    EXPECT_FALSE(torch::equal(after.select(1, row), before.select(1, row))) << row;
  }
}

TEST(Smoothing, RowsInOtherPrecisionsAreSmoothedToo) {
  torch::manual_seed(8);
  const torch::Tensor x = torch::randn({1, 9, 4});
  const torch::Tensor share = torch::rand({1, 9});
  const torch::Tensor wide = smoothed(x, share);
  EXPECT_TRUE(torch::allclose(smoothed(x.to(torch::kBFloat16), share).to(torch::kFloat), wide, 0, 0.03));
}

}  // namespace
}  // namespace xlm
