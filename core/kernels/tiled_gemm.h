// Matrix products in float32 on the CPU, tile by tile: with our own blocks or libtorch's small products, whichever are
// faster on this processor (register_gemm.h). None of them has a gradient.
//
// m rows, in and out features.
#pragma once

#include <optional>

#include <torch/torch.h>

#include "core/kernels/register_gemm.h"

namespace xlm {

/// A right operand [in, out] of one or many products, in the order in which they read it.
struct RightMatrix {
  /// `b` [in, out] itself, which is kept, or the transpose of `b` [out, in]. Rows are contiguous, as in all matrices
  /// here.
  explicit RightMatrix(const torch::Tensor& b, bool transposed = false);

  std::int64_t columns;
  std::optional<PackedRight> packed;  // if the products are our own
  torch::Tensor plain;                // [in, out] for libtorch's
};

/// out [m, out] = x [m, in] · b, plus `bias` [out] in every row if it is given. The second form creates `out`.
void rows_product(const torch::Tensor& x, const RightMatrix& b, const std::optional<torch::Tensor>& bias,
                  const torch::Tensor& out);
torch::Tensor rows_product(const torch::Tensor& x, const RightMatrix& b,
                           const std::optional<torch::Tensor>& bias = std::nullopt);

/// out [out, in] = gᵀ·x of g [m, out] and x [m, in], or out += gᵀ·x if `add`. The second form creates `out`.
void weight_gradient(const torch::Tensor& g, const torch::Tensor& x, const torch::Tensor& out, bool add);
torch::Tensor weight_gradient(const torch::Tensor& g, const torch::Tensor& x);

}  // namespace xlm
