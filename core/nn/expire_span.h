// Memories that say how long they are kept: Expire-Span (Sukhbaatar et al. 2021;
// experiments/recipes/adaptive-span/README.md#memories-that-expire).
//
// B batch, C cached memories, M tokens of a block, S span limit, L band (positions that a query sees), n heads,
// D width.
#pragma once

#include <cstdint>

#include <torch/torch.h>

#include "core/kernels/banded_attention.h"

namespace xlm {

/// The predictor of a layer's spans, which all its heads share.
struct ExpireSpan {
  torch::Tensor weight, bias;  // w [1, D], b [1]
  std::int64_t limit = 1;      // S
  std::int64_t ramp = 128;     // R
};

/// The memories of a block's queries, in the layout of BandedAttentionInput.
struct LiveMemories {
  torch::Tensor seen;   // [B, L + M, D], the block's own at the end; zeros in front if there are fewer
  torch::Tensor spans;  // [B, L + M], how long each is kept; −R for those in front that do not exist
  torch::Tensor own;    // [B, M], the spans of the block's own memories
  torch::Tensor state;  // [B, min(S, C + M), D], the cache of the next block
};

/// Cached memories [B, C, D] as far back as one of them lives, and those of `block` [B, M, D]. Only the block carries a
/// gradient; spans are those of the present weights. L depends on cached memories alone, so that no token of the block
/// changes the arithmetic of an earlier one. Call it without autocast: eight bits would round a span of 1000 to a
/// multiple of 4. On a GPU it waits for the spans of cached memories.
LiveMemories live_memories(const torch::Tensor& cache, const torch::Tensor& block, const ExpireSpan& span);

/// e = S·σ(wᵀh + b) of memories: `seen` [B, T, D] is constant, and its last M have the values of `block` [B, M, D],
/// which receives their gradient. Returns [B, T] in the type of the weights.
torch::Tensor memory_spans(const torch::Tensor& seen, const torch::Tensor& block, const ExpireSpan& span);

/// How many of the newest of C memories with these spans [B, C] the next query may see: up to the oldest one that lives
/// in any row.
std::int64_t count_kept(const torch::Tensor& spans, double ramp);

/// The factor clamp((e − x) / R + 1, 0, 1) of every memory at its age x, for every query: spans [B, L + M] →
/// [B, 1, M, L], ages ordered as in BandedAttentionInput::position.
torch::Tensor expire_mask(const torch::Tensor& spans, std::int64_t band, double ramp);

/// Attention over memories: m·exp(score) / Σ m·exp(score) with the factors m of expire_mask, before dropout; 0 for a
/// query that sees no memory. `spans` [B, L + M]; input.span is not used. Returns [B, n, M, L], at least float32.
torch::Tensor expiring_attention_weights(const BandedAttentionInput& input, const torch::Tensor& spans);

/// The same with dropout, times the values: [B, n, M, d]. From libtorch's differentiable operations, for any device.
torch::Tensor expiring_attention(const BandedAttentionInput& input, const torch::Tensor& spans);

}  // namespace xlm
