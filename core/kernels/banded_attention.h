// Attention over a band: a query sees a fixed number of positions before it, with relative position keys and an
// optional soft mask of learnt length. The core of the adaptive attention span.
//
// B batch, n heads of one group, M queries, L band (positions that a query sees), d head width.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

struct BandedAttentionInput {
  torch::Tensor query;     // [B, n, M, d]
  torch::Tensor key;       // [B, n, L + M, d]: query i sees position i + j in column j of its band
  torch::Tensor value;     // [B, n, L + M, d]
  torch::Tensor position;  // [d, L], column L − 1 belongs to distance 1
  torch::Tensor span;      // z in positions, [1 | B, n, 1 | M, 1]; undefined: no mask
  double ramp = 32;        // R of the soft mask
  double dropout = 0;      // of the attention weights; 0 outside training
  std::uint64_t seed = 0;  // of the dropout, by draw_dropout_seed
};

/// softmax((q·k + q·p) / √d) over the band, times the soft mask m(x) = clamp((R + z − (x − 1)) / R, 0, 1) at the
/// distance x, renormalised by (sum + 1e-8), dropout, product with the values: Sukhbaatar et al. 2019, §2.1, eq. 1 to
/// 3, and §2.2, with experiments/recipes/adaptive-span/README.md#the-soft-mask. Returns [B, n, M, d]. A query does not
/// see its own position. Uses the fused kernel on the CPU; on a GPU the program's own (band_attention_device.h) if
/// there is one for the type and width, otherwise the composed version.
torch::Tensor banded_attention(const BandedAttentionInput& input);

/// The plain version, from libtorch's differentiable operations: for any device, and the reference of the kernel's
/// tests.
torch::Tensor banded_attention_plain(const BandedAttentionInput& input);

/// Composed of libtorch's fused attention and a bias of distances and mask: for a GPU, whose chip then holds the scores
/// (d a multiple of 8). Blocks of Q = banded_block queries are in the batch, so that the bias [B, n, M / Q, Q, L + Q],
/// the only large tensor, has few keys that no query of a block sees. It omits the renormalisation's 1e-8, a difference
/// of 1e-8 if the mask leaves almost nothing. In bfloat16 the bias is rounded like scores. Dropout is libtorch's own.
torch::Tensor banded_attention_composed(const BandedAttentionInput& input);

/// The same in blocks of so many queries, or in one block if `block` is M or more.
torch::Tensor banded_attention_in_blocks(const BandedAttentionInput& input, std::int64_t block);

/// The block with which the composed version moves the least data: 64 queries, doubled repeatedly, or all of M. A short
/// block keeps the bias small, but each block has a copy of the keys and values that it sees.
std::int64_t banded_block(std::int64_t queries, std::int64_t band, std::int64_t width);

/// The kernel: float32, double and bfloat16 on the CPU. Scores stay in the cache and are recomputed in the backward
/// pass; memory is O(B n (L + M) d). bfloat16 applies only to products: sums, softmax and mask are float32. Everything
/// is float32 if the processor has no such products, or if M, L or d is odd.
torch::Tensor banded_attention_fused(const BandedAttentionInput& input);

/// (q·k + q·p) / √d of every query over its band: [B, n, M, L], distances ordered as in `position`; at least float32.
torch::Tensor banded_scores(const BandedAttentionInput& input);

/// The attention weights of every query over its band, before dropout: [B, n, M, L], distances ordered as in
/// `position`; at least float32.
torch::Tensor banded_attention_weights(const BandedAttentionInput& input);

/// Weights [B, n, M, L] of a band, with the input's dropout, times its values: [B, n, M, d]. `first_column` as in
/// banded_dropout_factors.
torch::Tensor banded_values(const torch::Tensor& weights, const BandedAttentionInput& input,
                            std::int64_t first_column = 0);

/// The soft mask m of every query over its band: [1 | B, n, 1 | M, L] (Sukhbaatar et al. 2019, §2.2). `span` is
/// defined.
torch::Tensor banded_soft_mask(const BandedAttentionInput& input);

/// The factors 0 or 1 / (1 − dropout) that both versions apply on the CPU: [B, n, M, L]. The columns of their places
/// begin with `first_column`: from −L on they are the same for any L, as where parts of a batch have several.
torch::Tensor banded_dropout_factors(const BandedAttentionInput& input, std::int64_t first_column = 0);

}  // namespace xlm
