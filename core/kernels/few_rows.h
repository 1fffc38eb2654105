// Products of few rows with a weight, as when a text is continued token by token: their time is that of reading the
// weight, which all threads share.
//
// m rows, in and out features.
#pragma once

#include <torch/torch.h>

#include <optional>

namespace xlm {

/// x·Wᵀ + b [m, out] of rows x [m, in] and weight [out, in], all contiguous float32 on the CPU; bias [out]. Without
/// gradient; linear.h has it. A row's result depends neither on the other rows nor on the threads.
torch::Tensor few_rows_linear(const torch::Tensor& x, const torch::Tensor& weight,
                              const std::optional<torch::Tensor>& bias);

/// x·W + b [m, out] of weight [in, out], likewise.
torch::Tensor few_rows_affine(const torch::Tensor& x, const torch::Tensor& weight,
                              const std::optional<torch::Tensor>& bias);

}  // namespace xlm
