// Causal attention without relative positions, as in GPT-2: the queries are at the last positions of the keys.
//
// B batch, H heads, T queries, K ≥ T keys, d head width.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

struct CausalAttentionInput {
  torch::Tensor query;     // [B, H, T, d]
  torch::Tensor key;       // [B, H, K, d]
  torch::Tensor value;     // [B, H, K, d]
  double dropout = 0;      // of the attention weights; 0 outside training
  std::uint64_t seed = 0;  // of the dropout, by draw_dropout_seed
};

/// softmax over j ≤ K − T + i of q_i·k_j / √d, dropout, product with the values: every query sees the first K − T keys.
/// Returns [B, H, T, d].
torch::Tensor causal_attention(const CausalAttentionInput& input);

/// The kernel of windows on the CPU, with one window over all keys; without dropout.
torch::Tensor causal_attention_fused(const CausalAttentionInput& input);

/// libtorch's fused attention; without dropout on the CPU.
torch::Tensor causal_attention_composed(const CausalAttentionInput& input);

/// The plain version, from libtorch's differentiable operations: memory O(B H T K).
torch::Tensor causal_attention_plain(const CausalAttentionInput& input);

}  // namespace xlm
