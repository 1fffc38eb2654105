// Linear layers against libtorch's own.
#include "core/kernels/linear.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(Linear, EqualsTorchsInValueAndGradient) {
  torch::manual_seed(1);
  for (const bool with_bias : {false, true}) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{2, 5, 16}, {33, 16}, {1, 1, 16}}) {
      const torch::Tensor x = torch::randn(shape).set_requires_grad(true);
      const torch::Tensor weight = torch::randn({24, 16}).set_requires_grad(true);
      const torch::Tensor bias = with_bias ? torch::randn({24}).set_requires_grad(true) : torch::Tensor();
      std::vector<torch::Tensor> leaves{x, weight};
      if (with_bias) leaves.push_back(bias);
      const torch::Tensor expected = torch::linear(x, weight, bias);
      const torch::Tensor actual = linear_layer(x, weight, bias);
      EXPECT_TRUE(torch::allclose(actual, expected, 1e-5, 1e-5));
      const torch::Tensor upstream = torch::randn_like(expected);
      const auto wanted = torch::autograd::grad({(expected * upstream).sum()}, leaves);
      const auto given = torch::autograd::grad({(actual * upstream).sum()}, leaves);
      for (std::size_t i = 0; i < leaves.size(); ++i)
        EXPECT_TRUE(torch::allclose(given[i], wanted[i], 1e-4, 1e-4)) << i;
    }
  }
}

TEST(Linear, WithTransposedWeightsEqualsTorchsInValueAndGradient) {
  torch::manual_seed(1);
  for (const std::int64_t rows : {3, 33}) {
    const std::vector<torch::Tensor> leaves{torch::randn({2, rows, 16}).set_requires_grad(true),
                                            torch::randn({16, 24}).set_requires_grad(true),
                                            torch::randn({24}).set_requires_grad(true)};
    const torch::Tensor expected = torch::matmul(leaves[0], leaves[1]) + leaves[2];
    const torch::Tensor actual = affine_layer(leaves[0], leaves[1], leaves[2]);
    EXPECT_TRUE(torch::allclose(actual, expected, 1e-5, 1e-5));
    const torch::Tensor upstream = torch::randn_like(expected);
    const auto wanted = torch::autograd::grad({(expected * upstream).sum()}, leaves);
    const auto given = torch::autograd::grad({(actual * upstream).sum()}, leaves);
    for (std::size_t i = 0; i < leaves.size(); ++i) EXPECT_TRUE(torch::allclose(given[i], wanted[i], 1e-4, 1e-4)) << i;
  }
}

TEST(Linear, TakesRowsThatAreNotContiguous) {
  const torch::Tensor x = torch::randn({4, 10, 16}).narrow(1, 3, 5);
  const torch::Tensor weight = torch::randn({8, 16});
  EXPECT_TRUE(torch::allclose(linear_layer(x, weight), torch::linear(x, weight), 1e-5, 1e-5));
}

TEST(Linear, AnEmptyInputGivesAnEmptyOutput) {
  EXPECT_EQ(linear_layer(torch::zeros({2, 0, 16}), torch::randn({8, 16})).sizes(),
            (std::vector<std::int64_t>{2, 0, 8}));
}

TEST(Linear, DoublePrecisionStaysDouble) {
  const torch::Tensor x = torch::randn({3, 4}, torch::kDouble);
  EXPECT_EQ(linear_layer(x, torch::randn({2, 4}, torch::kDouble)).scalar_type(), torch::kDouble);
}

}  // namespace
}  // namespace xlm
