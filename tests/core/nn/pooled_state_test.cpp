// What windows of GPT-2 pool, in the order of a CPU and of a GPU.
#include "core/nn/pooled_state.h"

#include <map>
#include <string>

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(PooledState, PoolsAllLayersAtOnceAsOneAfterTheOther) {
  torch::manual_seed(3);
  constexpr std::int64_t kLayers = 3;
  std::map<std::string, torch::Tensor> weights;
  const DeclareParameter declare = [&](const std::string& name, const torch::Tensor& initial) {
    return weights[name] = torch::randn(initial.sizes(), torch::kDouble).set_requires_grad(true);
  };
  const PooledState pooled(declare, {.pool = RecurrenceOptions::Pool::kMean}, kLayers, 8, 1);
  std::vector<torch::Tensor> leaves{weights.at("recurrence.alpha")};
  for (std::int64_t i = 0; i < kLayers; ++i)
    leaves.push_back(torch::randn({2, 5, 8}, torch::kDouble).set_requires_grad(true));
  const torch::Tensor shares = torch::softmax(leaves[0], 0);
  torch::Tensor expected;  // Σ softmax(α)_ℓ · the mean of h^(ℓ)
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const torch::Tensor part = shares[i] * leaves[static_cast<std::size_t>(i) + 1].mean(1, true);
    expected = expected.defined() ? expected + part : part;
  }
  const torch::Tensor upstream = torch::randn_like(expected);
  const auto wanted = torch::autograd::grad({(expected * upstream).sum()}, leaves);
  for (const bool at_once : {false, true}) {
    PooledState::Mixture mixture(pooled, 5, at_once);
    for (std::int64_t i = 0; i < kLayers; ++i) mixture.add(leaves[static_cast<std::size_t>(i) + 1], i);
    const torch::Tensor found = mixture.mixed();
    ASSERT_EQ(found.sizes(), expected.sizes());
    EXPECT_TRUE(torch::allclose(found, expected, 1e-12, 1e-12)) << at_once;
    const auto given = torch::autograd::grad({(found * upstream).sum()}, leaves);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      EXPECT_TRUE(torch::allclose(given[i], wanted[i], 1e-12, 1e-12)) << at_once << " " << i;
    }
  }
}

}  // namespace
}  // namespace xlm
