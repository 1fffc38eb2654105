// ReLU and dropout in one pass against libtorch's operations.
#include "core/kernels/relu_dropout.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

constexpr double kProbability = 0.3;
constexpr std::uint64_t kSeed = 5;

TEST(ReluDropout, EqualsThePlainVersionInValueAndGradient) {
  torch::manual_seed(2);
  for (const auto type : {torch::kFloat, torch::kDouble, torch::kBFloat16}) {
    // Rows that fill no vector, one that fills several, and enough for several threads.
    for (const auto& shape : std::vector<std::vector<std::int64_t>>{{3, 5, 7}, {2, 64}, {400, 130}}) {
      const torch::Tensor x = torch::randn(shape).to(type).set_requires_grad(true);
      const torch::Tensor expected = relu_dropout_plain(x, kProbability, kSeed);
      const torch::Tensor actual = relu_dropout(x, kProbability, kSeed);
      const double tolerance = type == torch::kBFloat16 ? 1e-2 : 1e-6;  // bfloat16 has eight bits
      EXPECT_TRUE(torch::allclose(actual, expected, tolerance, 0));
      const torch::Tensor upstream = torch::randn(shape).to(type);
      const auto wanted = torch::autograd::grad({(expected * upstream).sum()}, {x});
      const auto given = torch::autograd::grad({(actual * upstream).sum()}, {x});
      EXPECT_TRUE(torch::allclose(given[0], wanted[0], tolerance, 0));
    }
  }
}

TEST(ReluDropout, DropsItsShareAndKeepsTheMean) {
  const torch::Tensor dropped = relu_dropout(torch::ones({500, 1000}), kProbability, kSeed);
  EXPECT_NEAR((dropped == 0).to(torch::kDouble).mean().item<double>(), kProbability, 0.003);  // 4.6 deviations
  EXPECT_NEAR(dropped.mean().item<double>(), 1, 0.005);
}

TEST(ReluDropout, AnotherSeedDropsOthersAndTheSameTheSame) {
  const torch::Tensor x = torch::ones({40, 100});
  EXPECT_TRUE(torch::equal(relu_dropout(x, kProbability, 1), relu_dropout(x, kProbability, 1)));
  EXPECT_FALSE(torch::equal(relu_dropout(x, kProbability, 1), relu_dropout(x, kProbability, 2)));
}

TEST(ReluDropout, WithoutDropoutIsRelu) {
  const torch::Tensor x = torch::randn({4, 9});
  EXPECT_TRUE(torch::equal(relu_dropout(x, 0, kSeed), torch::relu(x)));
}

}  // namespace
}  // namespace xlm
