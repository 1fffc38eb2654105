// Causal attention with relative positions, as in Transformer-XL without memory: a query sees itself and every position
// before it. Scores have a part of content and a part of distance.
//
// B batch, H heads, T positions, d head width.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

struct RelativeAttentionInput {
  torch::Tensor query;          // [B, H, T, d]
  torch::Tensor key;            // [B, H, T, d]
  torch::Tensor value;          // [B, H, T, d]
  torch::Tensor position;       // r [H, T, d], row x belongs to distance x = 0 … T − 1
  torch::Tensor content_bias;   // r_w_bias [H, d], added to the query of the content part
  torch::Tensor position_bias;  // r_r_bias [H, d], added to the query of the distance part
  double dropout = 0;           // of the attention weights; 0 outside training
  std::uint64_t seed = 0;       // of the dropout, by draw_dropout_seed
};

/// softmax over j ≤ i of ((q_i + r_w_bias)·k_j + (q_i + r_r_bias)·r_{i−j}) / √d, dropout, product with the values (Dai
/// et al. 2019, §3.3, without memory). Returns [B, H, T, d]. Chooses its version as banded_attention does.
torch::Tensor relative_attention(const RelativeAttentionInput& input);

/// The plain version, from libtorch's differentiable operations: any device; memory O(B H T²).
torch::Tensor relative_attention_plain(const RelativeAttentionInput& input);

/// Composed of libtorch's fused attention and a bias of distances: for a GPU, whose chip then holds the scores (d a
/// multiple of 8); the bias [B, H, T, T] is the only large tensor. Dropout is libtorch's own.
torch::Tensor relative_attention_composed(const RelativeAttentionInput& input);

/// The same in tiles below the diagonal, on the CPU: memory O(B H T d), and no product or exponential of pairs that are
/// more than a tile behind the diagonal. float32, double and bfloat16; bfloat16 applies only to products, sums and
/// softmax are float32. Everything is float32 if the processor has no such products or d is odd. Sums have the same
/// order for any number of threads.
torch::Tensor relative_attention_fused(const RelativeAttentionInput& input);

/// The dropout factors 0 or 1 / (1 − dropout) on the CPU: [B, H, T, T], functions of seed and place alone.
torch::Tensor relative_dropout_factors(const RelativeAttentionInput& input);

}  // namespace xlm
