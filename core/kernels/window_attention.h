// Causal attention in which a query sees only the nearest keys: sliding windows, without a mask.
//
// B batch, H heads, T queries, K ≥ T keys, d head width.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

struct WindowAttentionInput {
  torch::Tensor query;      // [B, H, T, d], at the last positions of the keys
  torch::Tensor key;        // [B, H, K, d]
  torch::Tensor value;      // [B, H, K, d]
  std::int64_t window = 0;  // W, keys that a query sees, its own included
};

/// softmax of q_i·k_j / √d over K − T + i − W < j ≤ K − T + i, product with the values. Returns [B, H, T, d]. Its cost
/// follows the window: O(B H T W d).
torch::Tensor window_attention(const WindowAttentionInput& input);

/// The kernel on the CPU, whose scores stay in the cache. With W ≥ K it is plain causal attention. In bfloat16 it
/// multiplies in that type if the processor does and T, K and d are even, else in float32.
torch::Tensor window_attention_fused(const WindowAttentionInput& input);

/// Composed of libtorch's fused attention over blocks of queries, for a GPU. Its mask
/// [H, T, W + block] serves all rows of the batch.
torch::Tensor window_attention_composed(const WindowAttentionInput& input);

/// The plain version, from libtorch's differentiable operations: memory O(B H T K).
torch::Tensor window_attention_plain(const WindowAttentionInput& input);

}  // namespace xlm
