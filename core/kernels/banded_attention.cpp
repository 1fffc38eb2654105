// Banded attention from libtorch's operations, and the choice of version.
#include "core/kernels/banded_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/band_attention_device.h"
#include "core/kernels/clamp.h"
#include "core/kernels/dropout.h"
#include "core/kernels/examined_kernels.h"
#include "core/kernels/kernel_table.h"

namespace xlm {

namespace {

constexpr double kLeastMask = 1e-30;      // for the logarithm of a mask of 0
constexpr std::int64_t kLeastBlock = 64;  // smallest number of queries in a fused attention
constexpr std::int64_t kBiasPasses = 4;   // written for distances, mask and keys, and read

/// Columns by distance [Bn, M, L] to columns by key [Bn, M, L + M]; `outside` for keys that a query does not see. Rows
/// padded by M + 1 are read back one element shorter.
torch::Tensor by_key(const torch::Tensor& by_distance, double outside) {
  const std::int64_t rows = by_distance.size(0);
  const std::int64_t queries = by_distance.size(1);
  const std::int64_t keys = by_distance.size(2) + queries;
  return torch::constant_pad_nd(by_distance, {0, queries + 1}, outside)
      .view({rows, queries * (keys + 1)})
      .narrow(1, 0, queries * keys)
      .view({rows, queries, keys});
}

/// (R + z − (x − 1)) / R for every distance of a band, the soft mask before clamping: [1 | B, n, 1 | M, L].
torch::Tensor unclamped_mask(const torch::Tensor& span, std::int64_t band, double ramp) {
  const torch::Tensor steps = torch::arange(1 - band, 1, span.options().requires_grad(false));  // −(x − 1)
  return (steps + span) / ramp + 1;
}

/// The soft mask's logarithm. It saves only the spans for its gradient. libtorch's operations would save the mask
/// twice, which for a dynamic span is as large as the attention weights.
class LogMask : public torch::autograd::Function<LogMask> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& span, std::int64_t band,
                               double ramp) {
    context->save_for_backward({span});
    context->saved_data["band"] = band;
    context->saved_data["ramp"] = ramp;
    return unclamped_mask(span, band, ramp).clamp_(0, 1).add_(kLeastMask).log_();
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& upstream) {
    const torch::Tensor span = context->get_saved_variables().front();
    const double ramp = context->saved_data["ramp"].toDouble();
    const torch::Tensor mask = unclamped_mask(span, context->saved_data["band"].toInt(), ramp);
    const torch::Tensor moves = (mask >= 0).logical_and_(mask <= 1);  // as of clamp_with_corners
    const torch::Tensor slope = moves / ((mask.clamp(0, 1) + kLeastMask) * ramp);
    return {(upstream.front() * slope).sum(-1, /*keepdim=*/true), {}, {}};
  }
};

}  // namespace

torch::Tensor banded_soft_mask(const BandedAttentionInput& input) {
  return clamp_with_corners(unclamped_mask(input.span, input.position.size(1), input.ramp), 0, 1);
}

torch::Tensor banded_attention(const BandedAttentionInput& input) {
  switch (choose_kernel(Operation::kBandedAttention, attention_call(input.query, input.dropout))) {
    case KernelVersion::kOwn:
      return banded_attention_fused(input);
    case KernelVersion::kGpu:
      return banded_attention_by(band_kernels_of(input.query.device()), input);
    default:
      return banded_attention_composed(input);
  }
}

torch::Tensor banded_attention_composed(const BandedAttentionInput& input) {
  return banded_attention_in_blocks(input,
                                    banded_block(input.query.size(2), input.position.size(1), input.query.size(3)));
}

std::int64_t banded_block(std::int64_t queries, std::int64_t band, std::int64_t width) {
  const auto moved = [&](std::int64_t block) {
    const std::int64_t blocks = (queries + block - 1) / block;
    const std::int64_t copied = blocks > 1 ? 2 * width : 0;  // keys and values of a block, for each key
    return blocks * (band + block) * (kBiasPasses * block + copied);
  };
  std::int64_t best = queries;
  for (std::int64_t block = kLeastBlock; block < queries; block *= 2) {
    if (moved(block) < moved(best)) best = block;
  }
  return best;
}

torch::Tensor banded_attention_in_blocks(const BandedAttentionInput& input, std::int64_t block) {
  const std::int64_t batch = input.query.size(0);
  const std::int64_t heads = input.query.size(1);
  const std::int64_t queries = input.query.size(2);
  const std::int64_t width = input.query.size(3);
  const std::int64_t band = input.position.size(1);
  const std::int64_t length = std::min(block, queries);                // Q
  const std::int64_t blocks = (queries + length - 1) / length;         // N
  const auto filled = [&](const torch::Tensor& x, std::int64_t end) {  // a last short block is filled with zeros
    return x.size(2) == end ? x : torch::constant_pad_nd(x, {0, 0, 0, end - x.size(2)});
  };
  const auto seen = [&](const torch::Tensor& x) {  // [B, n, L + M, d] to [B, n·N, L + Q, d]
    if (blocks == 1) return x;
    return filled(x, band + blocks * length)
        .unfold(2, band + length, length)  // [B, n, N, d, L + Q]
        .transpose(3, 4)
        .reshape({batch, heads * blocks, band + length, width});
  };
  const double scale = 1 / std::sqrt(static_cast<double>(width));
  const torch::Tensor query = filled(input.query, blocks * length).reshape({batch, heads * blocks, length, width});
  torch::Tensor bias = torch::matmul(query, input.position) * scale;  // [B, n·N, Q, L]
  if (input.span.defined()) {
    // A factor of the weights is the exponential of a summand of the scores, and softmax renormalises.
    const bool each = input.span.size(2) > 1;  // every query has its own span
    const torch::Tensor log_mask =
        LogMask::apply(each ? filled(input.span, blocks * length) : input.span, band, input.ramp)
            .unflatten(2, {each ? blocks : 1, each ? length : 1});  // [1 | B, n, 1 | N, 1 | Q, L]
    bias = (bias.view({batch, heads, blocks, length, band}) + log_mask).flatten(1, 2);
  }
  bias = by_key(bias.to(query.scalar_type()).flatten(0, 1), -std::numeric_limits<double>::infinity())
             .view({batch, heads * blocks, length, band + length});  // [B, n·N, Q, L + Q]
  return at::scaled_dot_product_attention(query, seen(input.key), seen(input.value), bias, input.dropout,
                                          /*is_causal=*/false, scale)
      .reshape({batch, heads, blocks * length, width})
      .narrow(2, 0, queries);
}

torch::Tensor banded_dropout_factors(const BandedAttentionInput& input, std::int64_t first_column) {
  const std::int64_t heads = input.query.size(1);
  const std::int64_t rows = input.query.size(0) * heads;
  const std::int64_t queries = input.query.size(2);
  const std::int64_t band = input.position.size(1);
  const Dropout dropout(input.dropout);
  torch::Tensor factors = torch::empty({input.query.size(0), input.query.size(1), queries, band}, torch::kFloat);
  float* out = factors.data_ptr<float>();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < queries; ++i) {
      const std::uint32_t key = Dropout::key_of(input.seed, row / heads, row % heads, i);
      for (std::int64_t j = 0; j < band; ++j)
        *out++ = dropout.factor(key, static_cast<std::uint32_t>(first_column + j));
    }
  }
  return factors;
}

torch::Tensor banded_scores(const BandedAttentionInput& input) {
  const std::int64_t batch = input.query.size(0);
  const std::int64_t heads = input.query.size(1);
  const std::int64_t queries = input.query.size(2);  // M
  const std::int64_t width = input.query.size(3);    // d
  const std::int64_t band = input.position.size(1);  // L
  const std::int64_t keys = band + queries;
  const std::int64_t rows = batch * heads;
  const torch::Tensor q = input.query.reshape({rows, queries, width}) * (1.0 / std::sqrt(static_cast<double>(width)));
  const torch::Tensor k = input.key.reshape({rows, keys, width});

  // Row i of the full scores holds its band at columns i … i + L − 1: a view whose rows are one element longer.
  const torch::Tensor full = torch::bmm(q, k.transpose(1, 2));  // [Bn, M, L + M]
  const torch::Tensor content = full.as_strided({rows, queries, band}, {queries * keys, keys + 1, 1});  // [Bn, M, L]
  torch::Tensor scores = content + torch::matmul(q, input.position);                                    // [Bn, M, L]
  if (scores.scalar_type() == torch::kBFloat16 || scores.scalar_type() == torch::kHalf)
    scores = scores.to(torch::kFloat);
  return scores.unflatten(0, {batch, heads});
}

torch::Tensor banded_attention_weights(const BandedAttentionInput& input) {
  const torch::Tensor weights = torch::softmax(banded_scores(input), -1);  // [B, n, M, L]
  if (!input.span.defined()) return weights;
  const torch::Tensor masked = weights * banded_soft_mask(input);
  return masked / (masked.sum(-1, /*keepdim=*/true) + 1e-8);
}

torch::Tensor banded_values(const torch::Tensor& weights, const BandedAttentionInput& input,
                            std::int64_t first_column) {
  torch::Tensor kept = weights;
  if (input.dropout > 0) {
    kept = weights.device().is_cpu() ? weights * banded_dropout_factors(input, first_column)
                                     : torch::dropout(weights, input.dropout, /*train=*/true);
  }
  const torch::Tensor v = input.value.flatten(0, 1);                       // [Bn, L + M, d]
  return torch::bmm(by_key(kept.to(v.scalar_type()).flatten(0, 1), 0), v)  // [Bn, M, d]
      .view(input.query.sizes());
}

torch::Tensor banded_attention_plain(const BandedAttentionInput& input) {
  return banded_values(banded_attention_weights(input), input);
}

}  // namespace xlm
