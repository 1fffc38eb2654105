// Causal attention: the chosen version against the plain one.
#include "core/kernels/causal_attention.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(CausalAttention, EqualsThePlainVersionInValueAndGradient) {
  torch::manual_seed(1);
  for (const auto& [queries, keys] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {1, 9}, {7, 7}, {7, 8}, {70, 70}, {65, 68}}) {
    const auto of = [&](std::int64_t length) {
      return torch::randn({2, 3, length, 8}, torch::kDouble).set_requires_grad(true);
    };
    const CausalAttentionInput input{.query = of(queries), .key = of(keys), .value = of(keys)};
    const torch::Tensor expected = causal_attention_plain(input);
    const torch::Tensor actual = causal_attention(input);
    EXPECT_TRUE(torch::allclose(actual, expected, 1e-9, 1e-10)) << queries << " " << keys;
    const torch::Tensor upstream = torch::randn_like(expected);
    const std::vector<torch::Tensor> leaves{input.query, input.key, input.value};
    const auto wanted = torch::autograd::grad({(expected * upstream).sum()}, leaves);
    const auto given = torch::autograd::grad({(actual * upstream).sum()}, leaves);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      EXPECT_TRUE(torch::allclose(given[i], wanted[i], 1e-8, 1e-9)) << queries << " " << keys << " " << i;
    }
  }
}

TEST(CausalAttention, DropsWeightsByItsSeed) {
  const torch::Tensor x = torch::randn({1, 2, 40, 8});
  CausalAttentionInput input{.query = x, .key = x, .value = torch::ones_like(x), .dropout = 0.5, .seed = 3};
  const torch::Tensor first = causal_attention(input);
  EXPECT_TRUE(torch::equal(causal_attention(input), first));
  EXPECT_FALSE(torch::allclose(first, torch::ones_like(first)));
  EXPECT_NEAR(first.mean().item<double>(), 1, 0.2);
  input.seed = 4;
  EXPECT_FALSE(torch::equal(causal_attention(input), first));
}

}  // namespace
}  // namespace xlm
