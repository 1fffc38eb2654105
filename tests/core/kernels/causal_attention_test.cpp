// Causal attention: every version against the plain one.
#include "core/kernels/causal_attention.h"

#include <gtest/gtest.h>

#include "tests/core/kernels/called_operations.h"
#include "tests/core/kernels/exactness.h"

namespace xlm {
namespace {

using Version = torch::Tensor (*)(const CausalAttentionInput&);

class CausalAttentionVersion : public testing::TestWithParam<Version> {};

INSTANTIATE_TEST_SUITE_P(All, CausalAttentionVersion,
                         testing::Values(causal_attention, causal_attention_fused, causal_attention_composed));

TEST_P(CausalAttentionVersion, EqualsThePlainVersionInValueAndGradient) {
  torch::manual_seed(1);
  for (const auto& [queries, keys] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 1}, {1, 9}, {7, 7}, {7, 8}, {70, 70}, {65, 68}, {64, 65}, {5, 9}, {5, 10}, {5, 40}}) {
    const auto of = [&](std::int64_t length) {
      return torch::randn({2, 3, length, 8}, torch::kDouble).set_requires_grad(true);
    };
    const CausalAttentionInput input{.query = of(queries), .key = of(keys), .value = of(keys)};
    const torch::Tensor expected = causal_attention_plain(input);
    const torch::Tensor actual = GetParam()(input);
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

// The state of a recurrence is one key more, before as many as there are queries.
TEST(CausalAttention, NeedsNoMaskIfFewKeysComeFirst) {
  const auto of = [](std::int64_t length) { return torch::randn({1, 2, length, 8}); };
  for (const std::int64_t before : {0, 1, 20}) {
    const CalledOperations called;
    causal_attention_composed({.query = of(64), .key = of(64 + before), .value = of(64 + before)});
    EXPECT_EQ(called.of("aten::_scaled_dot_product_flash_attention_for_cpu"), 1) << before;
    EXPECT_EQ(called.of("aten::tril"), 0) << before;
  }
  const CalledOperations called;
  causal_attention_composed({.query = of(64), .key = of(200), .value = of(200)});
  EXPECT_EQ(called.of("aten::tril"), 1) << "padding queries would cost more than a mask";
}

TEST_P(CausalAttentionVersion, InSinglePrecisionIsAsExactAsThePlainVersion) {
  torch::manual_seed(2);
  for (const auto& [queries, keys] : std::vector<std::pair<std::int64_t, std::int64_t>>{{300, 301}, {250, 300}}) {
    const auto of = [](std::int64_t length) { return torch::randn({2, 3, length, 32}, torch::kDouble); };
    const CausalAttentionInput exact{.query = of(queries), .key = of(keys), .value = of(keys)};
    const auto results = [&](Version attention, torch::ScalarType type) {
      const auto leaf = [&](const torch::Tensor& x) { return x.to(type).clone().set_requires_grad(true); };
      const CausalAttentionInput input{.query = leaf(exact.query), .key = leaf(exact.key), .value = leaf(exact.value)};
      const torch::Tensor output = attention(input);
      std::vector<torch::Tensor> all{output.detach()};
      for (const torch::Tensor& gradient :
           torch::autograd::grad({output.square().sum()}, {input.query, input.key, input.value})) {
        all.push_back(gradient);
      }
      return all;
    };
    Exactness exactness;
    exactness.add(torch::kFloat, results(GetParam(), torch::kFloat), results(causal_attention_plain, torch::kFloat),
                  results(causal_attention_plain, torch::kDouble));
    exactness.expect_as_plain(1e-6);
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
