// Sliding windows: the kernel and the composed version against the plain one.
#include "core/kernels/window_attention.h"

#include <gtest/gtest.h>

#include <vector>

namespace xlm {
namespace {

struct WindowCase {
  std::int64_t queries, keys, window;
};

/// Output and gradients of one version.
std::vector<torch::Tensor> computed(torch::Tensor (*version)(const WindowAttentionInput&), const WindowCase& shape,
                                    torch::ScalarType type) {
  torch::manual_seed(3);
  const auto made = [&](std::int64_t length) {
    return torch::randn({2, 3, length, 8}, torch::kDouble).to(type).set_requires_grad(true);
  };
  const WindowAttentionInput input{
      .query = made(shape.queries), .key = made(shape.keys), .value = made(shape.keys), .window = shape.window};
  const torch::Tensor out = version(input);
  (out * torch::randn(out.sizes(), torch::kDouble).to(type)).sum().backward();
  return {out.detach(), input.query.grad(), input.key.grad(), input.value.grad()};
}

/// Shorter and longer than a tile of 64 or 32, at its edges, with keys in front, and windows as long as the text.
const std::vector<WindowCase> kWindowCases{{1, 1, 1},     {1, 9, 4},      {7, 7, 3},       {64, 64, 16},
                                           {65, 65, 64},  {130, 130, 33}, {130, 200, 33},  {100, 100, 100},
                                           {100, 300, 1}, {33, 40, 39},   {300, 300, 200}, {70, 500, 250}};

TEST(WindowAttention, TheKernelEqualsThePlainVersion) {
  for (const WindowCase& shape : kWindowCases) {
    const auto expected = computed(window_attention_plain, shape, torch::kDouble);
    const auto own = computed(window_attention_fused, shape, torch::kDouble);
    const auto single = computed(window_attention_fused, shape, torch::kFloat);
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
    const auto expected = computed(window_attention_plain, shape, torch::kDouble);
    const auto composed = computed(window_attention_composed, shape, torch::kDouble);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LT((composed[i] - expected[i]).abs().max().item<double>(), 1e-12)
          << shape.queries << " " << shape.keys << " " << shape.window << ", tensor " << i;
    }
  }
}

TEST(WindowAttention, InBfloat16ItIsComputedWithItsValues) {
  const WindowCase shape{130, 200, 33};
  const auto expected = computed(window_attention_plain, shape, torch::kDouble);
  const auto rounded = computed(window_attention, shape, torch::kBFloat16);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(rounded[i].scalar_type(), torch::kBFloat16);
    EXPECT_LT((rounded[i].to(torch::kDouble) - expected[i]).abs().max().item<double>(), 0.1) << i;
  }
}

TEST(WindowAttention, KeysOutsideTheWindowDoNotMatter) {
  torch::manual_seed(4);
  WindowAttentionInput input{.query = torch::randn({1, 2, 90, 8}),
                             .key = torch::randn({1, 2, 90, 8}),
                             .value = torch::randn({1, 2, 90, 8}),
                             .window = 20};
  const torch::Tensor before = window_attention(input);
  input.key.narrow(2, 0, 60).fill_(1e30);
  input.value.narrow(2, 0, 60).fill_(1e30);
  EXPECT_TRUE(torch::equal(window_attention(input).narrow(2, 79, 11), before.narrow(2, 79, 11)));
}

}  // namespace
}  // namespace xlm
