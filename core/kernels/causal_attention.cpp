// Causal attention: the own kernel or libtorch's fused one without dropout, plain operations with it.
#include "core/kernels/causal_attention.h"

#include <cmath>
#include <limits>

#include "core/kernels/counter_dropout.h"
#include "core/kernels/kernel_table.h"
#include "core/kernels/window_attention.h"

namespace xlm {
namespace {

/// True if a query sees a key: [T, K].
torch::Tensor seen_keys(const CausalAttentionInput& input) {
  const std::int64_t queries = input.query.size(2);
  const std::int64_t keys = input.key.size(2);
  return torch::ones({queries, keys}, torch::TensorOptions(torch::kBool).device(input.query.device()))
      .tril(keys - queries);
}

/// In float32, with the result in the type of the queries.
torch::Tensor widened_causal_attention(CausalAttentionInput input) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastCPU);
  const torch::ScalarType type = input.query.scalar_type();
  for (torch::Tensor* x : {&input.query, &input.key, &input.value}) *x = x->to(torch::kFloat);
  return causal_attention(input).to(type);
}

}  // namespace

torch::Tensor causal_attention_composed(const CausalAttentionInput& input) {
  const std::int64_t queries = input.query.size(2);
  const std::int64_t before = input.key.size(2) - queries;
  // The kernels have a flag for causal order, but disagree about it if there are more keys than queries: for libtorch's
  // own the first query sees the first key, for flash attention the last query sees the last key. So queries of zeros
  // are added for the keys in front, and their results are dropped. That is half of (K + 1) K products; a mask would be
  // T K.
  if (queries > 1 && before < queries) {
    const torch::Tensor query = before > 0 ? torch::constant_pad_nd(input.query, {0, 0, before, 0}) : input.query;
    return at::scaled_dot_product_attention(query, input.key, input.value, std::nullopt, input.dropout,
                                            /*is_causal=*/true)
        .narrow(2, before, queries);
  }
  const std::optional<torch::Tensor> mask =
      queries == 1 ? std::nullopt : std::optional<torch::Tensor>(seen_keys(input));
  return at::scaled_dot_product_attention(input.query, input.key, input.value, mask, input.dropout);
}

torch::Tensor causal_attention_fused(const CausalAttentionInput& input) {
  return window_attention_fused(
      {.query = input.query, .key = input.key, .value = input.value, .window = input.key.size(2)});
}

torch::Tensor causal_attention_plain(const CausalAttentionInput& input) {
  const double scale = 1 / std::sqrt(static_cast<double>(input.query.size(3)));
  torch::Tensor scores = torch::matmul(input.query * scale, input.key.transpose(2, 3));  // [B, H, T, K]
  if (scores.scalar_type() == torch::kBFloat16 || scores.scalar_type() == torch::kHalf) {
    scores = scores.to(torch::kFloat);
  }
  scores = scores.masked_fill(seen_keys(input).logical_not(), -std::numeric_limits<double>::infinity());
  torch::Tensor weights = torch::softmax(scores, -1);
  if (input.dropout > 0) weights = place_dropout(weights, input.dropout, input.seed);
  return torch::matmul(weights.to(input.value.scalar_type()), input.value);  // [B, H, T, d]
}

torch::Tensor causal_attention(const CausalAttentionInput& input) {
  switch (choose_kernel(Operation::kCausalAttention, attention_call(input.query, input.dropout))) {
    case KernelVersion::kWidened:
      return widened_causal_attention(input);
    case KernelVersion::kOwn:
      return causal_attention_fused(input);
    case KernelVersion::kComposed:
      return causal_attention_composed(input);
    default:
      return causal_attention_plain(input);
  }
}

}  // namespace xlm
