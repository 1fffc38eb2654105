// Matrix products in float32 on the CPU, made of oneDNN's small products of tiles. They are two to four times as fast
// as torch::matmul there. None of them has a gradient.
//
// m rows, in and out features.
#pragma once

#include <optional>

#include <torch/torch.h>

namespace xlm {

/// Whether the products below take these matrices: float32, on the CPU.
bool has_tiled_products(const torch::Tensor& a, const torch::Tensor& b);

/// out [m, out] = x [m, in] · b [in, out], plus `bias` [out] in every row where it is given. The elements of a row lie
/// side by side in all of them. The second form makes `out`.
void rows_product(const torch::Tensor& x, const torch::Tensor& b, const std::optional<torch::Tensor>& bias,
                  const torch::Tensor& out);
torch::Tensor rows_product(const torch::Tensor& x, const torch::Tensor& b,
                           const std::optional<torch::Tensor>& bias = std::nullopt);

/// out [out, in] = gᵀ·x of g [m, out] and x [m, in], or out += gᵀ·x where `add`. The elements of a row lie side by side
/// in all of them. The second form makes `out`.
void weight_gradient(const torch::Tensor& g, const torch::Tensor& x, const torch::Tensor& out, bool add);
torch::Tensor weight_gradient(const torch::Tensor& g, const torch::Tensor& x);

/// A transposed copy of a matrix.
torch::Tensor transposed(const torch::Tensor& matrix);

}  // namespace xlm
