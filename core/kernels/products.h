// Matrix products in float32 on the CPU, shared by all threads, from blocks that stay in registers (register_gemm.h).
// None of them has a gradient.
//
// m rows, in and out features.
#pragma once

#include <optional>

#include <torch/torch.h>

#include "core/kernels/register_gemm.h"

namespace xlm {

/// out [m, out] = x [m, in] · b [in, out], plus `bias` [out] in every row if it is given. The elements of a row of x
/// lie side by side. The second form makes `out`.
void rows_product(const torch::Tensor& x, const PackedRight& b, const std::optional<torch::Tensor>& bias,
                  const torch::Tensor& out);
torch::Tensor rows_product(const torch::Tensor& x, const PackedRight& b,
                           const std::optional<torch::Tensor>& bias = std::nullopt);

/// out [out, in] = gᵀ·x of g [m, out] and x [m, in], or out += gᵀ·x if `add`. The second form makes `out`.
void weight_gradient(const torch::Tensor& g, const torch::Tensor& x, const torch::Tensor& out, bool add);
torch::Tensor weight_gradient(const torch::Tensor& g, const torch::Tensor& x);

}  // namespace xlm
