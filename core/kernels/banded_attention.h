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
  torch::Tensor key;       // [B, n, L + M, d]: position i + j is what query i sees in column j of its band
  torch::Tensor value;     // [B, n, L + M, d]
  torch::Tensor position;  // [d, L], column L − 1 belongs to distance 1
  torch::Tensor span;      // z in positions, [1 | B, n, 1 | M, 1]; undefined: no mask
  double ramp = 32;        // R of the soft mask
  double dropout = 0;      // of the attention weights; 0 outside training
  std::uint64_t seed = 0;  // of the dropout, by draw_dropout_seed
};

/// softmax((q·k + q·p) / √d) over the band, times the soft mask m(x) = clamp((R + z − (x − 1)) / R, 0, 1) at the
/// distance x, renormalised by (sum + 1e-8), dropout, product with the values: Sukhbaatar et al. 2019, §2.1,
/// eq. 1 to 3, and §2.2, as docs/models.md#the-soft-mask says. Returns [B, n, M, d]. The query's own position is not
/// seen. On the CPU the fused kernel; on a GPU the program's own (band_attention_device.h) where there is one for the
/// type and width, otherwise the composed version.
torch::Tensor banded_attention(const BandedAttentionInput& input);

/// The plain version, from libtorch's differentiable operations: any device, and what the kernel is tested against.
torch::Tensor banded_attention_plain(const BandedAttentionInput& input);

/// Composed of libtorch's fused attention and a bias of distances and mask: for a GPU, where scores then stay on the
/// chip (d a multiple of 8). Blocks of Q = banded_block queries lie in the batch, so that the bias
/// [B, n, M / Q, Q, L + Q], the only large tensor, holds few keys that no query of a block sees. The renormalisation's
/// 1e-8 is left out, a difference of 1e-8 where the mask leaves next to nothing; in bfloat16 the bias is rounded as
/// scores are. Dropout is libtorch's own.
torch::Tensor banded_attention_composed(const BandedAttentionInput& input);

/// The same in blocks of so many queries, or in one block where `block` is M or more.
torch::Tensor banded_attention_in_blocks(const BandedAttentionInput& input, std::int64_t block);

/// The block of which the composed version moves least: 64 queries, twice as many again and again, or all of M. A short
/// block keeps the bias small, but each block has a copy of the keys and values that it sees.
std::int64_t banded_block(std::int64_t queries, std::int64_t band, std::int64_t width);

/// The kernel: float32, double and bfloat16 on the CPU. Scores never leave the cache, the backward pass computes them
/// again; memory is O(B n (L + M) d). In bfloat16 only products are: sums, softmax and mask are float32's, and so is
/// all of it where the processor has no such products, or M, L or d is odd.
torch::Tensor banded_attention_fused(const BandedAttentionInput& input);

/// The attention weights of every query over its band, before dropout: [B, n, M, L] as `position` orders distances.
/// float32 at least.
torch::Tensor banded_attention_weights(const BandedAttentionInput& input);

/// The soft mask m of every query over its band: [1 | B, n, 1 | M, L] (Sukhbaatar et al. 2019, §2.2). `span` is
/// defined.
torch::Tensor banded_soft_mask(const BandedAttentionInput& input);

/// The factors 0 or 1 / (1 − dropout) that both versions apply on the CPU: [B, n, M, L].
torch::Tensor banded_dropout_factors(const BandedAttentionInput& input);

}  // namespace xlm
