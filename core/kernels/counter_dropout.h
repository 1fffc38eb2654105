// Dropout in one pass on the CPU. It is drawn by place (dropout.h), where libtorch draws one random number after the
// other.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

/// Drops elements of x [B, …] with `probability` and scales the others so that the mean stays. Differentiable. On the
/// CPU the choice depends on `seed` and place alone, and the backward pass makes it again instead of keeping it.
/// Elsewhere it is libtorch's own dropout.
torch::Tensor place_dropout(const torch::Tensor& x, double probability, std::uint64_t seed);

}  // namespace xlm
