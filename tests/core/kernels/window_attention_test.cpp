// Sliding windows: the kernel and the composed version against the plain one.
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "core/kernels/causal_attention.h"
#include "tests/core/kernels/exactness.h"

namespace xlm {
namespace {

struct WindowCase {
  std::int64_t queries, keys, window;
};

/// Output and gradients of one version, of operands that are rounded to a type and given in another.
std::vector<torch::Tensor> computed(torch::Tensor (*version)(const CausalAttentionInput&), const WindowCase& shape,
                                    torch::ScalarType type, std::optional<torch::ScalarType> rounding = std::nullopt) {
  torch::manual_seed(3);
  const auto rounded = [&](const torch::Tensor& x) { return x.to(rounding.value_or(type)).to(type); };
  const auto made = [&](std::int64_t length) {
    return rounded(torch::randn({2, 3, length, 8}, torch::kDouble)).set_requires_grad(true);
  };
  const CausalAttentionInput input{
      .query = made(shape.queries), .key = made(shape.keys), .value = made(shape.keys), .window = shape.window};
  const torch::Tensor out = version(input);
  out.backward(rounded(torch::randn(out.sizes(), torch::kDouble)));
  return {out.detach(), input.query.grad(), input.key.grad(), input.value.grad()};
}

/// Shorter and longer than a tile of 64 or 32, at its edges, with keys in front, and windows as long as the text.
const std::vector<WindowCase> kWindowCases{{1, 1, 1},       {1, 9, 4},       {7, 7, 3},       {64, 64, 16},
                                           {65, 65, 64},    {130, 130, 33},  {130, 200, 33},  {100, 100, 100},
                                           {100, 300, 1},   {33, 40, 39},    {300, 300, 200}, {70, 500, 250},
                                           {600, 600, 600}, {600, 700, 257}, {600, 600, 300}};

TEST(WindowAttention, TheKernelEqualsThePlainVersion) {
  for (const WindowCase& shape : kWindowCases) {
    const auto expected = computed(causal_attention_plain, shape, torch::kDouble);
    const auto own = computed(causal_attention_fused, shape, torch::kDouble);
    const auto single = computed(causal_attention_fused, shape, torch::kFloat);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LT((own[i] - expected[i]).abs().max().item<double>(), 1e-12)
          << shape.queries << " " << shape.keys << " " << shape.window << ", tensor " << i;
      EXPECT_LT((single[i] - expected[i]).abs().max().item<double>(), 2e-5)
          << shape.queries << " " << shape.keys << " " << shape.window << ", tensor " << i;
    }
  }
}

TEST(WindowAttention, TheComposedVersionEqualsThePlainOne) {
  for (const WindowCase& shape : kWindowCases) {
    const auto expected = computed(causal_attention_plain, shape, torch::kDouble);
    const auto composed = computed(window_attention_composed, shape, torch::kDouble);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LT((composed[i] - expected[i]).abs().max().item<double>(), 1e-12)
          << shape.queries << " " << shape.keys << " " << shape.window << ", tensor " << i;
    }
  }
}

/// Even numbers of queries and keys are multiplied in bfloat16, odd ones in float32; windows begin at even and odd
/// keys.
TEST(WindowAttention, InBfloat16ItIsAsExactAsThePlainVersion) {
  Exactness exactness;
  for (const WindowCase& shape : kWindowCases) {
    const auto plain = computed(causal_attention_plain, shape, torch::kBFloat16);
    const auto own = computed(causal_attention_fused, shape, torch::kBFloat16);
    for (const torch::Tensor& x : own) EXPECT_EQ(x.scalar_type(), torch::kBFloat16);
    exactness.add(torch::kBFloat16, own, plain,
                  computed(causal_attention_plain, shape, torch::kDouble, torch::kBFloat16));
  }
  exactness.expect_as_plain(1e-3);
}

TEST(WindowAttention, KeysOutsideTheWindowDoNotMatter) {
  torch::manual_seed(4);
  CausalAttentionInput input{.query = torch::randn({1, 2, 90, 8}),
                             .key = torch::randn({1, 2, 90, 8}),
                             .value = torch::randn({1, 2, 90, 8}),
                             .window = 20};
  const torch::Tensor before = causal_attention(input);
  input.key.narrow(2, 0, 60).fill_(1e30);
  input.value.narrow(2, 0, 60).fill_(1e30);
  EXPECT_TRUE(torch::equal(causal_attention(input).narrow(2, 79, 11), before.narrow(2, 79, 11)));
}

}  // namespace
}  // namespace xlm
