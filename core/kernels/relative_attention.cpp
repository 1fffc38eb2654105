// Relative attention from libtorch's operations, and the choice of version.
#include "core/kernels/relative_attention.h"

#include <cmath>
#include <limits>

#include "core/kernels/band_attention_device.h"
#include "core/kernels/dropout.h"
#include "core/kernels/examined_kernels.h"
#include "core/kernels/kernel_table.h"

namespace xlm {

namespace {

/// (q_i + r_r_bias)·r_{i−j} in column j ≤ i of row i: [B, H, T, T]; the other columns are masked later. It is computed
/// by distance, largest first. A column of zeros in front, and rows read one element shorter, then move distance i − j
/// to column j.
torch::Tensor position_scores(const RelativeAttentionInput& input) {
  const std::int64_t length = input.query.size(2);
  const torch::Tensor by_distance = torch::matmul(input.query + input.position_bias.unsqueeze(1),
                                                  input.position.flip(1).transpose(1, 2));  // [B, H, T, T]
  return torch::constant_pad_nd(by_distance, {1, 0})
      .view({input.query.size(0), input.query.size(1), length + 1, length})
      .narrow(2, 1, length);
}

/// True if a key comes after the query: [T, T].
torch::Tensor later_keys(const RelativeAttentionInput& input) {
  const std::int64_t length = input.query.size(2);
  return torch::ones({length, length}, torch::TensorOptions(torch::kBool).device(input.query.device())).triu(1);
}

}  // namespace

torch::Tensor relative_attention(const RelativeAttentionInput& input) {
  switch (choose_kernel(Operation::kRelativeAttention, attention_call(input.query, input.dropout))) {
    case KernelVersion::kOwn:
      return relative_attention_fused(input);
    case KernelVersion::kGpu:
      return relative_attention_by(band_kernels_of(input.query.device()), input);
    default:
      return relative_attention_composed(input);
  }
}

torch::Tensor relative_attention_composed(const RelativeAttentionInput& input) {
  const double scale = 1 / std::sqrt(static_cast<double>(input.query.size(3)));
  const torch::Tensor query = input.query + input.content_bias.unsqueeze(1).to(input.query.scalar_type());
  const torch::Tensor bias = (position_scores(input) * scale)
                                 .masked_fill(later_keys(input), -std::numeric_limits<double>::infinity())
                                 .to(query.scalar_type());  // [B, H, T, T]
  return at::scaled_dot_product_attention(query, input.key, input.value, bias, input.dropout, /*is_causal=*/false,
                                          scale);
}

torch::Tensor relative_dropout_factors(const RelativeAttentionInput& input) {
  const std::int64_t heads = input.query.size(1);
  const std::int64_t rows = input.query.size(0) * heads;
  const std::int64_t length = input.query.size(2);
  const Dropout dropout(input.dropout);
  torch::Tensor factors = torch::empty({input.query.size(0), input.query.size(1), length, length}, torch::kFloat);
  float* out = factors.data_ptr<float>();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < length; ++i) {
      const std::uint32_t key = Dropout::key_of(input.seed, row / heads, row % heads, i);
      for (std::int64_t j = 0; j < length; ++j) *out++ = dropout.factor(key, static_cast<std::uint32_t>(j));
    }
  }
  return factors;
}

torch::Tensor relative_attention_plain(const RelativeAttentionInput& input) {
  const double scale = 1 / std::sqrt(static_cast<double>(input.query.size(3)));
  const torch::Tensor content =
      torch::matmul(input.query + input.content_bias.unsqueeze(1), input.key.transpose(2, 3));  // [B, H, T, T]
  torch::Tensor scores = (content + position_scores(input)) * scale;
  if (scores.scalar_type() == torch::kBFloat16 || scores.scalar_type() == torch::kHalf) {
    scores = scores.to(torch::kFloat);
  }
  torch::Tensor weights =
      torch::softmax(scores.masked_fill(later_keys(input), -std::numeric_limits<double>::infinity()), -1);
  if (input.dropout > 0) {
    weights = weights.device().is_cpu() ? weights * relative_dropout_factors(input)
                                        : torch::dropout(weights, input.dropout, /*train=*/true);
  }
  return torch::matmul(weights.to(input.value.scalar_type()), input.value);  // [B, H, T, d]
}

}  // namespace xlm
