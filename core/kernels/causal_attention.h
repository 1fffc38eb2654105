// Causal attention without relative positions, over all keys or over the nearest of them: the queries are at the last
// positions of the keys.
//
// B batch, H heads, T queries, K ≥ T keys, d head width.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

struct CausalAttentionInput {
  torch::Tensor query;      // [B, H, T, d]
  torch::Tensor key;        // [B, H, K, d]
  torch::Tensor value;      // [B, H, K, d]
  std::int64_t window = 0;  // W, keys that a query sees, its own included; 0: all
  double dropout = 0;       // of the attention weights; 0 outside training, and with a window
  std::uint64_t seed = 0;   // of the dropout, by draw_dropout_seed
};

/// softmax over K − T + i − W < j ≤ K − T + i of q_i·k_j / √d, dropout, product with the values. Without a window every
/// query sees the first K − T keys. Returns [B, H, T, d]. The cost follows the window: O(B H T W d).
torch::Tensor causal_attention(const CausalAttentionInput& input);

/// The kernel on the CPU, whose scores stay in the cache; without dropout. In bfloat16 it multiplies in that type if
/// the processor does and T, K and d are even, else in float32.
torch::Tensor causal_attention_fused(const CausalAttentionInput& input);

/// libtorch's fused attention over all keys; without dropout on the CPU.
torch::Tensor causal_attention_composed(const CausalAttentionInput& input);

/// libtorch's fused attention over blocks of queries, for windows on a GPU. Its mask [H, T, W + block] serves all rows
/// of the batch.
torch::Tensor window_attention_composed(const CausalAttentionInput& input);

/// The plain version, from libtorch's differentiable operations: memory O(B H T K).
torch::Tensor causal_attention_plain(const CausalAttentionInput& input);

}  // namespace xlm
