// Memories that expire, from libtorch's operations.
#include "core/nn/expire_span.h"

#include <algorithm>
#include <limits>

#include "core/kernels/clamp.h"
#include "core/kernels/linear.h"

namespace xlm {
namespace {

using torch::Tensor;

constexpr double kLowestScore = -1e30;  // stands for the largest score of a query that sees no memory
constexpr double kLeastSum = 1e-20;     // and this for the sum of its factors; those of others are larger

/// (e − x) / R + 1 with `minus_ages` −x.
Tensor unclamped_factors(const Tensor& spans, const Tensor& minus_ages, double ramp) {
  return (spans + minus_ages) / ramp + 1;
}

/// −count … −1.
Tensor falling_ages(std::int64_t count, const Tensor& like) {
  return torch::arange(-count, 0, like.options().requires_grad(false));
}

}  // namespace

Tensor memory_spans(const Tensor& seen, const Tensor& block, const ExpireSpan& span) {
  const torch::ScalarType type = span.weight.scalar_type();
  const Tensor gate = linear_layer_with_past(seen.to(type), block.to(type), span.weight) + span.bias;  // [B, T, 1]
  return torch::sigmoid(gate).squeeze(-1) * static_cast<double>(span.limit);
}

std::int64_t count_kept(const Tensor& spans, double ramp) {
  const std::int64_t cached = spans.size(1);
  if (cached == 0) return 0;
  const Tensor minus_ages = falling_ages(cached, spans);                                // [C]
  const Tensor lives = unclamped_factors(spans.detach(), minus_ages, ramp) > 0;         // [B, C]
  const Tensor ages = torch::where(lives, -minus_ages, torch::zeros_like(minus_ages));  // [B, C]
  return static_cast<std::int64_t>(ages.max().item<double>());
}

LiveMemories live_memories(const Tensor& cache, const Tensor& block, const ExpireSpan& span) {
  const std::int64_t cached = cache.size(1);
  const std::int64_t queries = block.size(1);
  const Tensor all = torch::cat({cache, block.detach()}, 1);  // [B, C + M, D]
  const Tensor spans = memory_spans(all, block, span);        // [B, C + M]
  const auto ramp = static_cast<double>(span.ramp);
  const std::int64_t past = count_kept(spans.narrow(1, 0, cached), ramp);
  const std::int64_t band = std::min(span.limit, std::max<std::int64_t>(1, past + queries - 1));
  const std::int64_t missing = band - past;
  const std::int64_t keep = std::min(span.limit, cached + queries);
  return {.seen = torch::constant_pad_nd(all.narrow(1, cached - past, past + queries), {0, 0, missing, 0}),
          .spans = torch::constant_pad_nd(spans.narrow(1, cached - past, past + queries), {missing, 0}, -ramp),
          .own = spans.narrow(1, cached, queries),
          .state = all.narrow(1, cached + queries - keep, keep)};
}

Tensor expire_mask(const Tensor& spans, std::int64_t band, double ramp) {
  const std::int64_t queries = spans.size(1) - band;
  const Tensor of_query = spans.unfold(1, band, 1).narrow(1, 0, queries);  // [B, M, L]
  return clamp_with_corners(unclamped_factors(of_query, falling_ages(band, spans), ramp), 0, 1)
      .unsqueeze(1)
      .contiguous();
}

Tensor expiring_attention_weights(const BandedAttentionInput& input, const Tensor& spans) {
  const Tensor mask = expire_mask(spans, input.position.size(1), input.ramp);  // [B, 1, M, L]
  // Expired memories take no part, so that it makes no difference whether they are still there.
  const Tensor scores =
      banded_scores(input).masked_fill(mask == 0, -std::numeric_limits<double>::infinity());  // [B, n, M, L]
  const Tensor largest = scores.detach().amax(-1, /*keepdim=*/true).clamp_min(kLowestScore);
  const Tensor weights = mask * (scores - largest).exp();
  return weights / weights.sum(-1, /*keepdim=*/true).clamp_min(kLeastSum);
}

Tensor expiring_attention(const BandedAttentionInput& input, const Tensor& spans) {
  return banded_values(expiring_attention_weights(input, spans), input, -input.position.size(1));
}

}  // namespace xlm
