// Sliding windows: the own kernel on the CPU, blocks of libtorch's fused attention otherwise.
#include "core/kernels/window_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/kernel_table.h"

namespace xlm {

torch::Tensor window_attention_plain(const WindowAttentionInput& input) {
  const std::int64_t queries = input.query.size(2);
  const std::int64_t keys = input.key.size(2);
  const double scale = 1 / std::sqrt(static_cast<double>(input.query.size(3)));
  const torch::Tensor ones = torch::ones({queries, keys}, input.query.options().dtype(torch::kBool));
  const torch::Tensor seen = ones.tril(keys - queries).logical_and_(ones.triu(keys - queries - input.window + 1));
  torch::Tensor scores = torch::matmul(input.query * scale, input.key.transpose(2, 3));  // [B, H, T, K]
  if (scores.scalar_type() == torch::kBFloat16) scores = scores.to(torch::kFloat);
  scores = scores.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
  return torch::matmul(torch::softmax(scores, -1).to(input.value.scalar_type()), input.value);
}

torch::Tensor window_attention_composed(const WindowAttentionInput& input) {
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

torch::Tensor window_attention(const WindowAttentionInput& input) {
  switch (choose_kernel(Operation::kWindowAttention, attention_call(input.query, 0))) {
    case KernelVersion::kOwn:
      return window_attention_fused(input);
    default:
      return window_attention_composed(input);
  }
}

}  // namespace xlm
