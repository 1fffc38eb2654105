// Matrix products in float32 on the CPU, by tiles of oneDNN's small ones: two to four times as fast as torch::matmul
// there. None has a gradient.
//
// m rows, in and out features.
#pragma once

#include <optional>

#include <torch/torch.h>

namespace xlm {

/// Whether the products below take these matrices: float32, on the CPU.
bool has_tiled_products(const torch::Tensor& a, const torch::Tensor& b);

/// x·b (+ bias [out] in every row) → out [m, out]: x [m, in], b [in, out], the elements of a row side by side.
void rows_product(const torch::Tensor& x, const torch::Tensor& b, const std::optional<torch::Tensor>& bias,
                  const torch::Tensor& out);
torch::Tensor rows_product(const torch::Tensor& x, const torch::Tensor& b,
                           const std::optional<torch::Tensor>& bias = std::nullopt);

/// gᵀ·x → out [out, in], or added to it: g [m, out], x [m, in], the elements of a row side by side.
void weight_gradient(const torch::Tensor& g, const torch::Tensor& x, const torch::Tensor& out, bool add);
torch::Tensor weight_gradient(const torch::Tensor& g, const torch::Tensor& x);

/// A transposed copy of a matrix.
torch::Tensor transposed(const torch::Tensor& matrix);

}  // namespace xlm
