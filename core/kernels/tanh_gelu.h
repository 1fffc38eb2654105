// GELU by its approximation with tanh, which GPT-2 and nanoGPT use.
#pragma once

#include <torch/torch.h>

namespace xlm {

/// x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))) in the type of `x`, of any shape.
torch::Tensor tanh_gelu(const torch::Tensor& x);

/// The kernel on the CPU, in float32 or bfloat16. It saves `x` alone, and takes one pass in each direction.
torch::Tensor tanh_gelu_fused(const torch::Tensor& x);

}  // namespace xlm
