// Products of few rows with a weight, as in sampling token by token: their time is that of reading the weight, which
// all threads share.
//
// m rows, in and out features.
#pragma once

#include <torch/torch.h>

#include <optional>

namespace xlm {

/// x·Wᵀ + b [m, out] of rows x [m, in] and weight [out, in], all contiguous float32 on the CPU; bias [out]. Without
/// gradient, which linear.h adds. A row's result depends neither on the other rows nor on the threads.
torch::Tensor few_rows_linear(const torch::Tensor& x, const torch::Tensor& weight,
                              const std::optional<torch::Tensor>& bias);

/// The same with x·W + b [m, out] of weight [in, out].
torch::Tensor few_rows_affine(const torch::Tensor& x, const torch::Tensor& weight,
                              const std::optional<torch::Tensor>& bias);

}  // namespace xlm
