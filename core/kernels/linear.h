// Linear layers by the fastest product that libtorch has for them.
#pragma once

#include <torch/torch.h>

namespace xlm {

/// x·Wᵀ + b: x [..., in], weight [out, in], bias [out] or undefined. On the CPU in float32 by tiles of oneDNN's small
/// products, two to four times as fast as torch::linear there; everywhere else, and under autocast, torch::linear.
torch::Tensor linear_layer(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias = {});

/// x·W + b: x [..., in], weight [in, out], bias [out], as GPT-2's weights lie. By the same products.
torch::Tensor affine_layer(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias);

/// seen·Wᵀ where only the last M rows carry a gradient: `seen` [B, T, in] is constant and ends with the values of
/// `block` [B, M, in], which gets it. Returns [B, T, out].
torch::Tensor linear_layer_with_past(const torch::Tensor& seen, const torch::Tensor& block,
                                     const torch::Tensor& weight);

}  // namespace xlm
