// Linear layers with the fastest product that libtorch has for them.
#pragma once

#include <vector>

#include <torch/torch.h>

namespace xlm {

/// x·Wᵀ + b of x [..., in], weight [out, in] and bias [out] or undefined. On the CPU in float32 it is made of
/// the products of tiled_gemm.h, two to four times as fast as torch::linear there, or, for fewer than 8
/// rows, loops over the weight. On a GPU under autocast the gradient of the weight is a sum in float32 that bfloat16
/// does not round. Everywhere else it is torch::linear. `parameter`: what a weight is made of that is none itself, for
/// observers of the step.
torch::Tensor linear_layer(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias = {},
                           const torch::Tensor& parameter = {});

/// The layers of several weights [out, in] of one input, by one product of all of them: the input is read once, and its
/// gradient is one sum. For fewer than 8 rows they are computed one after the other.
std::vector<torch::Tensor> linear_layers(const torch::Tensor& x, const std::vector<torch::Tensor>& weights);

/// x·W + b of x [..., in], weight [in, out] and bias [out], as GPT-2 stores its weights; with the same products.
torch::Tensor affine_layer(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias);

/// These layers by libtorch's products in the type `products` on any device, as on a GPU under autocast: linear_layer
/// if `out_first`, else affine_layer.
torch::Tensor composed_linear_layer(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias,
                                    torch::ScalarType products, bool out_first);

/// seen·Wᵀ [B, T, out], in which only the last M positions carry a gradient. `seen` [B, T, in] is constant. Its last M
/// positions have the values of `block` [B, M, in], and `block` receives their gradient.
torch::Tensor linear_layer_with_past(const torch::Tensor& seen, const torch::Tensor& block,
                                     const torch::Tensor& weight);

/// The same by libtorch's products on any device, as on a GPU: in autocast's type, without joining past and block
/// again, and without gradients of the past. `seen` may have that type already.
torch::Tensor composed_linear_with_past(const torch::Tensor& seen, const torch::Tensor& block,
                                        const torch::Tensor& weight);

}  // namespace xlm
