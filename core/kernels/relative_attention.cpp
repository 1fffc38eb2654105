// Relative attention from libtorch's own operations, and the choice of version.
#include "core/kernels/relative_attention.h"

#include <cmath>
#include <limits>

#include "core/kernels/dropout.h"

namespace xlm {

torch::Tensor relative_attention(const RelativeAttentionInput& input) {
  return input.query.device().is_cpu() ? relative_attention_fused(input) : relative_attention_plain(input);
}

torch::Tensor relative_dropout_factors(const RelativeAttentionInput& input) {
  const std::int64_t rows = input.query.size(0) * input.query.size(1);
  const std::int64_t length = input.query.size(2);
  const Dropout dropout(input.dropout);
  torch::Tensor factors = torch::empty({input.query.size(0), input.query.size(1), length, length}, torch::kFloat);
  float* out = factors.data_ptr<float>();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < length; ++i) {
      const std::uint32_t key = Dropout::row_key(input.seed, row, i);
      for (std::int64_t j = 0; j < length; ++j) *out++ = dropout.factor(key, static_cast<std::uint32_t>(j));
    }
  }
  return factors;
}

torch::Tensor relative_attention_plain(const RelativeAttentionInput& input) {
  const std::int64_t batch = input.query.size(0);
  const std::int64_t heads = input.query.size(1);
  const std::int64_t length = input.query.size(2);
  const double scale = 1 / std::sqrt(static_cast<double>(input.query.size(3)));
  const torch::Tensor content =
      torch::matmul(input.query + input.content_bias.unsqueeze(1), input.key.transpose(2, 3));  // [B, H, T, T]
  // By distance, farthest first; a column of zeros in front and rows read one element shorter then bring distance i − j
  // to column j.
  const torch::Tensor by_distance = torch::matmul(input.query + input.position_bias.unsqueeze(1),
                                                  input.position.flip(1).transpose(1, 2));  // [B, H, T, T]
  const torch::Tensor shifted = torch::constant_pad_nd(by_distance, {1, 0})
                                    .view({batch, heads, length + 1, length})
                                    .narrow(2, 1, length);  // [B, H, T, T]
  torch::Tensor scores = (content + shifted) * scale;
  if (scores.scalar_type() == torch::kBFloat16 || scores.scalar_type() == torch::kHalf) {
    scores = scores.to(torch::kFloat);
  }
  const torch::Tensor later =
      torch::ones({length, length}, torch::TensorOptions(torch::kBool).device(scores.device())).triu(1);
  torch::Tensor weights = torch::softmax(scores.masked_fill(later, -std::numeric_limits<double>::infinity()), -1);
  if (input.dropout > 0) {
    weights = weights.device().is_cpu() ? weights * relative_dropout_factors(input)
                                        : torch::dropout(weights, input.dropout, /*train=*/true);
  }
  return torch::matmul(weights.to(input.value.scalar_type()), input.value);  // [B, H, T, d]
}

}  // namespace xlm
