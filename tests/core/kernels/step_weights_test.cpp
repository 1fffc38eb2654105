// What is shared by all uses of a weight has the values and gradients of uses that share nothing.
#include "core/kernels/step_weights.h"

#include <vector>

#include <gtest/gtest.h>

#include "core/kernels/mixed_product.h"

namespace xlm {
namespace {

using torch::Tensor;

/// A chain of windows: each is embedded, normed and mapped, and passes its mean on to the next.
struct ChainOfWindows {
  ChainOfWindows() {
    torch::manual_seed(5);
    const auto leaf = [](torch::IntArrayRef sizes) {
      return torch::randn(sizes, torch::kDouble).set_requires_grad(true);
    };
    table = leaf({11, 6});
    scale = leaf({6});
    shift = leaf({6});
    weight = leaf({6, 6});
    bias = leaf({6});
    turned = leaf({6, 6});
    indices = torch::randint(11, {4, 2, 3}, torch::kLong);  // windows, rows, tokens
  }

  Tensor sum(StepWeights* shared) const {
    Tensor past = torch::zeros({2, 1, 6}, torch::kDouble);
    Tensor total = torch::zeros({}, torch::kDouble);
    for (std::int64_t i = 0; i < indices.size(0); ++i) {
      const Tensor rows = shared != nullptr ? shared->rows(table, indices[i]) : torch::embedding(table, indices[i]);
      const Tensor x = rows * (1 + past);
      const Tensor normed =
          shared != nullptr ? shared->layer_norm(x, scale, shift, 1e-5) : torch::layer_norm(x, {6}, scale, shift, 1e-5);
      const Tensor mapped =
          shared != nullptr ? shared->affine(normed, weight, bias) : torch::matmul(normed, weight) + bias;
      const Tensor mean = mapped.mean(1, true).tanh();
      past = shared != nullptr ? shared->affine(mean, turned, bias, true) : torch::linear(mean, turned, bias);
      total = total + (mapped * mapped).sum() * static_cast<double>(1 + i);
    }
    return total;
  }

  std::vector<Tensor> leaves() const { return {table, scale, shift, weight, bias, turned}; }

  Tensor table, scale, shift, weight, bias;
  Tensor turned;  // [out, in]
  Tensor indices;
};

TEST(StepWeights, HaveTheGradientsOfSeparateUses) {
  const ChainOfWindows chain;
  const Tensor expected = chain.sum(nullptr);
  const std::vector<Tensor> wanted = torch::autograd::grad({expected}, chain.leaves());
  Tensor found;
  {
    StepWeights shared(torch::kDouble);
    found = chain.sum(&shared);
  }
  EXPECT_NEAR(found.item<double>(), expected.item<double>(), 1e-9);
  const std::vector<Tensor> given = torch::autograd::grad({found}, chain.leaves());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(torch::allclose(given[i], wanted[i], 1e-9, 1e-9)) << i;
}

TEST(StepWeights, AddTheirGradientsToThoseThatAreThere) {
  const ChainOfWindows chain;
  for (int step = 1; step <= 2; ++step) {
    StepWeights shared(torch::kDouble);
    chain.sum(&shared).backward();
  }
  const std::vector<Tensor> once = torch::autograd::grad({chain.sum(nullptr)}, chain.leaves());
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_TRUE(torch::allclose(chain.leaves()[i].grad(), 2 * once[i], 1e-9, 1e-9)) << i;
  }
}

/// A use of affine or of layer_norm leaves more than 500 bytes here, and a use of rows 336.
TEST(StepWeights, KeepNoMoreThanTheyMayAndHaveTheSameGradients) {
  const ChainOfWindows chain;
  const std::vector<Tensor> wanted = torch::autograd::grad({chain.sum(nullptr)}, chain.leaves());
  for (const std::size_t most : {0U, 500U, 1500U}) {
    StepWeights shared(torch::kDouble, most);
    const Tensor total = chain.sum(&shared);
    EXPECT_EQ(shared.most_held(), 0U) << "before the backward pass";
    const std::vector<Tensor> given = torch::autograd::grad({total}, chain.leaves());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(torch::allclose(given[i], wanted[i], 1e-9, 1e-9)) << i;
    EXPECT_LE(shared.most_held(), most);
    EXPECT_EQ(shared.most_held() > 0, most >= 500);
  }
  StepWeights shared(torch::kDouble);
  torch::autograd::grad({chain.sum(&shared)}, chain.leaves());
  EXPECT_GT(shared.most_held(), 3000U) << "without a limit that matters";
}

TEST(StepWeights, OfWhichNoUseReachesTheLossHaveNoGradient) {
  const ChainOfWindows chain;
  StepWeights shared(torch::kDouble);
  const Tensor x = torch::ones({2, 6}, torch::kDouble).set_requires_grad(true);
  shared.affine(x, chain.weight, chain.bias);
  x.sum().backward();
  EXPECT_FALSE(chain.weight.grad().defined());
}

TEST(StepWeights, RoundMatricesAloneAndKeepTheTypesOfGradients) {
  torch::manual_seed(5);
  const Tensor x = torch::randn({40, 16}).set_requires_grad(true);
  const Tensor weight = torch::randn({16, 8}).set_requires_grad(true);
  const Tensor bias = torch::randn({8}).set_requires_grad(true);
  StepWeights shared(torch::kBFloat16);
  const Tensor found = shared.affine(x, weight, bias);
  EXPECT_EQ(found.scalar_type(), torch::kBFloat16);
  const Tensor expected = torch::matmul(x, weight) + bias;
  const auto relative = [](const Tensor& a, const Tensor& b) { return ((a - b).norm() / b.norm()).item<double>(); };
  EXPECT_LT(relative(found.to(torch::kFloat), expected), 1e-2);
  const std::vector<Tensor> wanted = torch::autograd::grad({expected.square().sum()}, {x, weight, bias});
  const std::vector<Tensor> given = torch::autograd::grad({found.to(torch::kFloat).square().sum()}, {x, weight, bias});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(given[i].scalar_type(), torch::kFloat) << i;
    EXPECT_LT(relative(given[i], wanted[i]), 2e-2) << i;
  }
}

TEST(StepWeights, AreOfTheirThreadsCallsThatWantGradients) {
  EXPECT_EQ(StepWeights::current(), nullptr);
  {
    const StepWeights shared(torch::kFloat);
    EXPECT_EQ(StepWeights::current(), &shared);
    const torch::NoGradGuard no_grad;
    EXPECT_EQ(StepWeights::current(), nullptr);
  }
  EXPECT_EQ(StepWeights::current(), nullptr);
}

TEST(MixedProduct, HasTheTypeThatIsAskedFor) {
  torch::manual_seed(5);
  const Tensor a = torch::randn({3, 5});
  const Tensor b = torch::randn({5, 2});
  EXPECT_TRUE(product_as(a, b, torch::kFloat).equal(torch::mm(a, b)));
  const Tensor lower = product_as(a.to(torch::kBFloat16), b.to(torch::kBFloat16), torch::kFloat);
  EXPECT_EQ(lower.scalar_type(), torch::kFloat);
  EXPECT_LT((lower - torch::mm(a, b)).abs().max().item<double>(), 5e-2);
}

}  // namespace
}  // namespace xlm
