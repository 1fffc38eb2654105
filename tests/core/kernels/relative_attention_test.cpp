// Relative attention against a triple loop, and the fused version against the plain one.
#include <cmath>
#include <vector>

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "core/kernels/relative_attention.h"
#include "tests/core/kernels/exactness.h"

namespace xlm {
namespace {

std::vector<torch::Tensor*> tensors_of(RelativeAttentionInput& input) {
  return {&input.query, &input.key, &input.value, &input.position, &input.content_bias, &input.position_bias};
}

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
  for (torch::Tensor* tensor : tensors_of(input)) {
    *tensor = tensor->detach().clone().set_requires_grad(true);
    leaves.push_back(*tensor);
  }
  const torch::Tensor output = attention(input);
  torch::manual_seed(99);
  const torch::Tensor upstream = torch::randn(output.sizes(), torch::kDouble).to(output.scalar_type());
  std::vector<torch::Tensor> all{output.detach()};
  for (const torch::Tensor& gradient : torch::autograd::grad({(output * upstream).sum()}, leaves)) {
    all.push_back(gradient);
  }
  return all;
}

void expect_close(const std::vector<torch::Tensor>& actual, const std::vector<torch::Tensor>& expected,
                  double tolerance = 1e-12) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double scale = 1 + expected[i].abs().max().item<double>();
    EXPECT_LT((actual[i] - expected[i]).abs().max().item<double>(), tolerance * scale) << i;
  }
}

/// [B, H, T, d] as a projection makes it: queries, keys and values of all heads next to each other.
void lay_side_by_side(RelativeAttentionInput& input) {
  const auto parts =
      torch::stack({input.query.transpose(1, 2), input.key.transpose(1, 2), input.value.transpose(1, 2)}, 2)
          .unbind(2);  // [B, T, H, d]
  input.query = parts[0].transpose(1, 2);
  input.key = parts[1].transpose(1, 2);
  input.value = parts[2].transpose(1, 2);
  input.position = input.position.transpose(0, 1).contiguous().transpose(0, 1);
}

TEST(RelativeAttention, EveryVersionEqualsTheDefinitionInValueAndGradient) {
  torch::manual_seed(3);
  for (const std::int64_t length : {1, 2, 9}) {
    const RelativeAttentionInput input = random_relative_input(2, 3, length, 4);
    const auto expected =
        values_and_gradients([](const RelativeAttentionInput& in) { return relative_by_loop(in); }, input);
    expect_close(values_and_gradients(relative_attention_plain, input), expected);
    expect_close(values_and_gradients(relative_attention_composed, input), expected);
    expect_close(values_and_gradients(relative_attention_fused, input), expected);
  }
}

TEST(RelativeAttention, DropsWeightsByPlace) {
  torch::manual_seed(4);
  RelativeAttentionInput input = random_relative_input(2, 2, 11, 4);
  input.dropout = 0.3;
  input.seed = 17;
  const torch::Tensor factors = relative_dropout_factors(input).to(torch::kDouble);
  EXPECT_NEAR((factors == 0).to(torch::kDouble).mean().item<double>(), 0.3, 0.1);
  const auto expected =
      values_and_gradients([&](const RelativeAttentionInput& in) { return relative_by_loop(in, factors); }, input);
  expect_close(values_and_gradients(relative_attention_plain, input), expected);
  expect_close(values_and_gradients(relative_attention_fused, input), expected);
}

// One query, part of a tile, a whole tile, a tile and a bit, several.
TEST(FusedRelativeAttention, EqualsThePlainVersionInValueAndGradient) {
  torch::manual_seed(5);
  for (const std::int64_t length : {1, 5, 64, 70, 300}) {
    for (const double dropout : {0.0, 0.3}) {
      RelativeAttentionInput input = random_relative_input(2, 2, length, 24);
      input.dropout = dropout;
      input.seed = 7;
      expect_close(values_and_gradients(relative_attention_fused, input),
                   values_and_gradients(relative_attention_plain, input), 1e-11);
    }
  }
}

TEST(FusedRelativeAttention, LongSequencesInNarrowTilesEqualThePlainVersion) {
  torch::manual_seed(11);
  RelativeAttentionInput input = random_relative_input(1, 1, 1601, 4);
  input.dropout = 0.1;
  expect_close(values_and_gradients(relative_attention_fused, input),
               values_and_gradients(relative_attention_plain, input), 1e-11);
}

TEST(FusedRelativeAttention, IsAsExactAsThePlainVersionInEveryPrecision) {
  torch::manual_seed(6);
  Exactness exactness;
  for (const std::int64_t length : {5, 64, 70, 300, 600}) {
    for (const double dropout : {0.0, 0.3}) {
      RelativeAttentionInput input = random_relative_input(2, 2, length, 32);
      input.dropout = dropout;
      const auto expected = values_and_gradients(relative_attention_plain, input);
      for (const torch::ScalarType type : {torch::kFloat, torch::kBFloat16}) {
        RelativeAttentionInput lower = input;
        for (torch::Tensor* tensor : tensors_of(lower)) *tensor = tensor->to(type);
        exactness.add(type, values_and_gradients(relative_attention_fused, lower),
                      values_and_gradients(relative_attention_plain, lower), expected);
      }
    }
  }
  exactness.expect_as_plain(1e-7);
}

TEST(FusedRelativeAttention, ReadsInterleavedHeads) {
  torch::manual_seed(8);
  RelativeAttentionInput input = random_relative_input(2, 3, 70, 8);
  const torch::Tensor expected = relative_attention_plain(input);
  lay_side_by_side(input);
  EXPECT_LT((relative_attention_fused(input) - expected).abs().max().item<double>(), 1e-12);
}

TEST(FusedRelativeAttention, ALaterTokenChangesNothingBeforeIt) {
  torch::manual_seed(9);
  RelativeAttentionInput input = random_relative_input(1, 2, 150, 16);
  for (torch::Tensor* tensor : tensors_of(input)) *tensor = tensor->to(torch::kFloat);
  const torch::Tensor before = relative_attention_fused(input);
  for (const std::int64_t changed : {1, 63, 64, 100, 149}) {
    RelativeAttentionInput other = input;
    for (torch::Tensor* tensor : {&other.query, &other.key, &other.value}) {
      *tensor = tensor->clone();
      tensor->narrow(2, changed, 1).add_(1);
    }
    const torch::Tensor after = relative_attention_fused(other);
    EXPECT_TRUE(torch::equal(after.narrow(2, 0, changed), before.narrow(2, 0, changed)));
    EXPECT_FALSE(torch::equal(after.narrow(2, changed, 1), before.narrow(2, changed, 1)));
  }
}

TEST(FusedRelativeAttention, ThreadsDoNotChangeTheResult) {
  torch::manual_seed(10);
  RelativeAttentionInput input = random_relative_input(3, 3, 130, 16);
  for (torch::Tensor* tensor : tensors_of(input)) *tensor = tensor->to(torch::kFloat);
  input.dropout = 0.2;
  const int threads = at::get_num_threads();
  std::vector<std::vector<torch::Tensor>> results;
  for (const int count : {1, 2}) {
    at::set_num_threads(count);
    results.push_back(values_and_gradients(relative_attention_fused, input));
  }
  at::set_num_threads(threads);
  for (std::size_t i = 0; i < results[0].size(); ++i) EXPECT_TRUE(torch::equal(results[0][i], results[1][i])) << i;
}

// Autocast gives bfloat16 queries and float32 biases.
TEST(FusedRelativeAttention, TakesBfloat16WithFloat32) {
  torch::manual_seed(12);
  RelativeAttentionInput input = random_relative_input(1, 2, 70, 16);
  const torch::Tensor expected = relative_attention_plain(input);
  for (torch::Tensor* tensor : tensors_of(input)) *tensor = tensor->to(torch::kFloat);
  for (torch::Tensor* tensor : {&input.query, &input.key, &input.value, &input.position}) {
    *tensor = tensor->to(torch::kBFloat16);
  }
  const torch::Tensor actual = relative_attention_fused(input);
  EXPECT_EQ(actual.scalar_type(), torch::kBFloat16);
  EXPECT_LT((actual.to(torch::kDouble) - expected).abs().max().item<double>(), 0.1);
}

}  // namespace
}  // namespace xlm
