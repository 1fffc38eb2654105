// Exponential smoothing along a sequence whose places each say how much they count: a linear recurrence of first order.
//
// B batch, G places, D width.
#pragma once

#include <torch/torch.h>

namespace xlm {

/// s_j = p_j·x_j + (1 − p_j)·s_{j−1} with s_0 = 0: x [B, G, D], `share` p [B, G] in [0, 1] → [B, G, D]. Row j has the
/// same bits whatever comes behind it. On the CPU, float32 and double use one loop over the places, forwards and
/// backwards, whose result does not depend on the number of threads; otherwise it is smoothed_plain.
torch::Tensor smoothed(const torch::Tensor& x, const torch::Tensor& share);

/// The same of libtorch's differentiable operations: after pass k a row knows 2ᵏ rows, so there are ⌈log₂ G⌉ passes.
torch::Tensor smoothed_plain(const torch::Tensor& x, const torch::Tensor& share);

}  // namespace xlm
