// Pooling of a sequence into groups and back, at O(T·D): sums over segments and copies of rows, no [T, groups] matrix.
//
// B batch, T tokens, D width, G places for closed groups of a row: as many as the row with most has, or more.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

/// The groups of a batch (experiments/recipes/dynamic-pooling/README.md#groups). Rows with fewer than G groups are
/// padded at the end.
struct Groups {
  std::int64_t count = 0;  // G
  torch::Tensor group;     // [B, T] int64: the closed group that a token belongs to; G for tokens of the open one
  torch::Tensor closed;    // [B, T] int64: groups closed at or before a token; 0 … G
  torch::Tensor ends;      // [B, G] int64: the token that closes a group; T in the padding
  torch::Tensor sizes;     // [B, G] int64: tokens of a group; 1 in the padding
  torch::Tensor most;      // scalar int64: the closed groups of the row with most
};

/// `boundaries` [B, T] bool: true closes a group after its token. G is `room`, if it is not 0; otherwise it is read
/// from the device. Where a row closes more than its room, the groups mean nothing, but can be computed with.
Groups find_groups(const torch::Tensor& boundaries, std::int64_t room = 0);

/// Mean of every closed group: hidden [B, T, D] → [B, G, D], 0 in the padding. `boundaries` [B, T], of hidden's type,
/// are 0 or 1; through them flows Σ over t > s in closed groups of ⟨dL/ds_g(t), h_t − s_g(t)⟩ / n_g(t), the gradient
/// of the published soft pooling at hard boundaries (experiments/recipes/dynamic-pooling/README.md#groups).
torch::Tensor group_means(const torch::Tensor& hidden, const torch::Tensor& boundaries, const Groups& groups);

/// Last token of every closed group: [B, T, D] → [B, G, D], 0 in the padding. No gradient to the boundaries.
torch::Tensor group_lasts(const torch::Tensor& hidden, const Groups& groups);

/// take_rows with a gradient, for ids [B, S] that name no row twice: x [B, R, D] → [B, S, D]. `from` [B, R] says the
/// opposite: the row of the result to which a row of x goes, or a number outside it.
torch::Tensor move_rows(const torch::Tensor& x, const torch::Tensor& ids, const torch::Tensor& from);

/// The same for ids that may name a row several times, or none, whose row of the result is then 0: x [B, R, D] → [B, S,
/// D].
torch::Tensor repeat_rows(const torch::Tensor& x, const torch::Tensor& ids);

/// Every token receives the vector of the last group closed at or before it: pooled [B, 1 + G, D], its first row for
/// tokens before any, → [B, T, D]. No gradient to the boundaries.
torch::Tensor spread_groups(const torch::Tensor& pooled, const Groups& groups);

/// Exponential smoothing s_j = p_j·x_j + (1 − p_j)·s_{j−1} with s_0 = 0: x [B, G, D], `share` p [B, G] in [0, 1] → [B,
/// G, D]. Row j has the same bits whatever comes behind it. After pass k a row knows 2ᵏ rows, so there are ⌈log₂ G⌉
/// passes.
torch::Tensor smoothed(const torch::Tensor& x, const torch::Tensor& share);

/// The two primitives, each the adjoint of the other, without their own gradients. Row s of the sum is Σ over t with
/// ids[b, t] = s of x[b, t]; ids outside [0, count) are left out: [B, count, D].
torch::Tensor segment_sum(const torch::Tensor& x, const torch::Tensor& ids, std::int64_t count);
/// Row t of the result is x[b, ids[b, t]]; 0 if the id is not a row of x.
torch::Tensor take_rows(const torch::Tensor& x, const torch::Tensor& ids);

/// Column t of the result is Σ over u > t of x[b, u]: x [B, T]. `by_product`: by a product with a triangle of ones, [T,
/// T], because a GPU sums along a row in no fixed order.
torch::Tensor sums_of_later(const torch::Tensor& x, bool by_product);

}  // namespace xlm
