// Relative attention against a triple loop.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/kernels/relative_attention.h"

namespace xlm {
namespace {

RelativeAttentionInput random_relative_input(std::int64_t batch, std::int64_t heads, std::int64_t length,
                                             std::int64_t width) {
  const auto real = torch::TensorOptions(torch::kDouble);
  return {.query = torch::randn({batch, heads, length, width}, real),
          .key = torch::randn({batch, heads, length, width}, real),
          .value = torch::randn({batch, heads, length, width}, real),
          .position = torch::randn({heads, length, width}, real),
          .content_bias = torch::randn({heads, width}, real),
          .position_bias = torch::randn({heads, width}, real)};
}

/// The definition, one query and key at a time; `factors` multiply the weights.
torch::Tensor relative_by_loop(const RelativeAttentionInput& in, const torch::Tensor& factors = {}) {
  std::vector<torch::Tensor> outputs;
  const double scale = 1 / std::sqrt(static_cast<double>(in.query.size(3)));
  for (std::int64_t b = 0; b < in.query.size(0); ++b) {
    for (std::int64_t h = 0; h < in.query.size(1); ++h) {
      for (std::int64_t i = 0; i < in.query.size(2); ++i) {
        std::vector<torch::Tensor> scores;
        for (std::int64_t j = 0; j <= i; ++j) {
          scores.push_back((((in.query[b][h][i] + in.content_bias[h]) * in.key[b][h][j]).sum() +
                            ((in.query[b][h][i] + in.position_bias[h]) * in.position[h][i - j]).sum()) *
                           scale);
        }
        torch::Tensor weights = torch::softmax(torch::stack(scores), 0);
        if (factors.defined()) weights = weights * factors[b][h][i].narrow(0, 0, i + 1);
        outputs.push_back(in.value[b][h].narrow(0, 0, i + 1).t().mv(weights));
      }
    }
  }
  return torch::stack(outputs).view(in.query.sizes());
}

template <class Attention>
std::vector<torch::Tensor> values_and_gradients(Attention&& attention, RelativeAttentionInput input) {
  std::vector<torch::Tensor> leaves;
  for (torch::Tensor* tensor :
       {&input.query, &input.key, &input.value, &input.position, &input.content_bias, &input.position_bias}) {
    *tensor = tensor->detach().clone().set_requires_grad(true);
    leaves.push_back(*tensor);
  }
  const torch::Tensor output = attention(input);
  torch::manual_seed(99);
  const torch::Tensor upstream = torch::randn(output.sizes(), torch::kDouble);
  std::vector<torch::Tensor> all{output.detach()};
  for (const torch::Tensor& gradient : torch::autograd::grad({(output * upstream).sum()}, leaves)) {
    all.push_back(gradient);
  }
  return all;
}

void expect_close(const std::vector<torch::Tensor>& actual, const std::vector<torch::Tensor>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_LT((actual[i] - expected[i]).abs().max().item<double>(), 1e-12) << i;
  }
}

TEST(RelativeAttention, EqualsTheDefinitionInValueAndGradient) {
  torch::manual_seed(3);
  for (const std::int64_t length : {1, 2, 9}) {
    const RelativeAttentionInput input = random_relative_input(2, 3, length, 4);
    expect_close(values_and_gradients(relative_attention, input),
                 values_and_gradients([](const RelativeAttentionInput& in) { return relative_by_loop(in); }, input));
  }
}

TEST(RelativeAttention, DropsWeightsByPlace) {
  torch::manual_seed(4);
  RelativeAttentionInput input = random_relative_input(2, 2, 11, 4);
  input.dropout = 0.3;
  input.seed = 17;
  const torch::Tensor factors = relative_dropout_factors(input).to(torch::kDouble);
  EXPECT_NEAR((factors == 0).to(torch::kDouble).mean().item<double>(), 0.3, 0.1);
  expect_close(
      values_and_gradients(relative_attention, input),
      values_and_gradients([&](const RelativeAttentionInput& in) { return relative_by_loop(in, factors); }, input));
}

}  // namespace
}  // namespace xlm
