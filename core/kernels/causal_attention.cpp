// Causal attention: the own kernel or libtorch's fused one without dropout, plain operations with it. Sliding windows:
// the own kernel on the CPU, blocks of libtorch's fused attention otherwise.
#include "core/kernels/causal_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/dropout.h"
#include "core/kernels/kernel_table.h"

namespace xlm {
namespace {

/// True if a query sees a key: [T, K].
torch::Tensor seen_keys(const CausalAttentionInput& input) {
  const std::int64_t queries = input.query.size(2);
  const std::int64_t keys = input.key.size(2);
  const torch::Tensor ones =
      torch::ones({queries, keys}, torch::TensorOptions(torch::kBool).device(input.query.device()));
  const torch::Tensor seen = ones.tril(keys - queries);
  return input.window > 0 ? seen.logical_and(ones.triu(keys - queries - input.window + 1)) : seen;
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
    const torch::Tensor mixed = at::scaled_dot_product_attention(query, input.key, input.value, std::nullopt,
                                                                 input.dropout, /*is_causal=*/true);
    return before > 0 ? mixed.narrow(2, before, queries) : mixed;  // the gradient of a part is a copy
  }
  const std::optional<torch::Tensor> mask =
      queries == 1 ? std::nullopt : std::optional<torch::Tensor>(seen_keys(input));
  return at::scaled_dot_product_attention(input.query, input.key, input.value, mask, input.dropout);
}

torch::Tensor window_attention_composed(const CausalAttentionInput& input) {
  const std::int64_t heads = input.query.size(1);
  const std::int64_t queries = input.query.size(2);
  const std::int64_t width = input.query.size(3);
  const std::int64_t before = input.key.size(2) - queries;              // keys in front of the first query
  const std::int64_t block = std::max<std::int64_t>(64, input.window);  // Q
  const std::int64_t blocks = (queries + block - 1) / block;            // N
  const std::int64_t span = block + input.window;                       // keys of a block, the first of which none sees
  const std::int64_t lead = input.window - before;                      // keys that are missing for the first block
  const std::int64_t end = blocks * block - queries;
  const auto seen = [&](const torch::Tensor& x) {  // [B, H, K, d] to [B, H·N, W + Q, d]
    return torch::constant_pad_nd(x, {0, 0, lead, end})
        .unfold(2, span, block)  // [B, H, N, d, W + Q]
        .transpose(3, 4)
        .reshape({x.size(0), heads * blocks, span, width});
  };
  const torch::TensorOptions whole = torch::TensorOptions(torch::kLong).device(input.query.device());
  const torch::Tensor query_place = torch::arange(block, whole).view({1, block, 1});
  const torch::Tensor key_place = torch::arange(span, whole).view({1, 1, span}) - input.window;  // in its block
  const torch::Tensor first = torch::arange(blocks, whole).view({blocks, 1, 1}) * block;
  const torch::Tensor mask = (key_place <= query_place)
                                 .logical_and(key_place > query_place - input.window)
                                 .logical_and(key_place + first + before >= 0);  // [N, Q, W + Q]
  return at::scaled_dot_product_attention(
             torch::constant_pad_nd(input.query, {0, 0, 0, end}).reshape({-1, heads * blocks, block, width}),
             seen(input.key), seen(input.value), mask.repeat({heads, 1, 1}))
      .reshape({-1, heads, blocks * block, width})
      .narrow(2, 0, queries);
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
  if (input.window > 0 && input.window < input.key.size(2)) {
    const KernelVersion version = choose_kernel(Operation::kWindowAttention, attention_call(input.query, 0));
    return version == KernelVersion::kOwn ? causal_attention_fused(input) : window_attention_composed(input);
  }
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
