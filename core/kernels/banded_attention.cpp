// Banded attention from libtorch's own operations, and the choice between it and the kernel.
#include "core/kernels/banded_attention.h"

#include <cmath>

#include "core/kernels/dropout.h"

namespace xlm {

torch::Tensor banded_attention(const BandedAttentionInput& input) {
  return input.query.device().is_cpu() ? banded_attention_fused(input) : banded_attention_plain(input);
}

torch::Tensor banded_dropout_factors(const BandedAttentionInput& input) {
  const std::int64_t rows = input.query.size(0) * input.query.size(1);
  const std::int64_t queries = input.query.size(2);
  const std::int64_t band = input.position.size(1);
  const Dropout dropout(input.dropout);
  torch::Tensor factors = torch::empty({input.query.size(0), input.query.size(1), queries, band}, torch::kFloat);
  float* out = factors.data_ptr<float>();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < queries; ++i) {
      const std::uint32_t key = Dropout::row_key(input.seed, row, i);
      for (std::int64_t j = 0; j < band; ++j) *out++ = dropout.factor(key, static_cast<std::uint32_t>(j));
    }
  }
  return factors;
}

torch::Tensor banded_attention_plain(const BandedAttentionInput& input) {
  const std::int64_t batch = input.query.size(0);
  const std::int64_t heads = input.query.size(1);
  const std::int64_t queries = input.query.size(2);  // M
  const std::int64_t width = input.query.size(3);    // d
  const std::int64_t band = input.position.size(1);  // L
  const std::int64_t keys = band + queries;
  const std::int64_t rows = batch * heads;
  const torch::Tensor q = input.query.reshape({rows, queries, width}) * (1.0 / std::sqrt(static_cast<double>(width)));
  const torch::Tensor k = input.key.reshape({rows, keys, width});
  const torch::Tensor v = input.value.reshape({rows, keys, width});

  // Row i of the full scores holds its band at columns i … i + L − 1: a view whose rows are one element longer.
  const torch::Tensor full = torch::bmm(q, k.transpose(1, 2));  // [Bn, M, L + M]
  const torch::Tensor content = full.as_strided({rows, queries, band}, {queries * keys, keys + 1, 1});  // [Bn, M, L]
  torch::Tensor scores = content + torch::matmul(q, input.position);                                    // [Bn, M, L]
  if (scores.scalar_type() == torch::kBFloat16 || scores.scalar_type() == torch::kHalf)
    scores = scores.to(torch::kFloat);
  torch::Tensor weights = torch::softmax(scores, -1).view({batch, heads, queries, band});
  if (input.span.defined()) {
    const torch::Tensor steps = torch::arange(1 - band, 1, input.span.options().requires_grad(false));  // −(x − 1)
    weights = weights * ((steps + input.span) / input.ramp + 1).clamp(0, 1);
    weights = weights / (weights.sum(-1, /*keepdim=*/true) + 1e-8);
  }
  if (input.dropout > 0) {
    weights = weights.device().is_cpu() ? weights * banded_dropout_factors(input)
                                        : torch::dropout(weights, input.dropout, /*train=*/true);
  }

  // The inverse of the view: pad each row by M + 1, read it back with rows one element shorter.
  const torch::Tensor padded =
      torch::constant_pad_nd(weights.to(v.scalar_type()).view({rows, queries, band}), {0, queries + 1});
  const torch::Tensor skewed = padded.view({rows, queries * (keys + 1)})
                                   .narrow(1, 0, queries * keys)
                                   .view({rows, queries, keys});  // [Bn, M, L + M]
  return torch::bmm(skewed, v).view({batch, heads, queries, width});
}

}  // namespace xlm
