// Dropout in one pass on the CPU. It is drawn by place (dropout.h); libtorch draws one random number after the other.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

/// Drops elements of x [B, …] with `probability` and scales the others to keep the mean. Differentiable. On the CPU the
/// choice depends only on `seed` and place, and the backward pass repeats it instead of saving it. On other devices it
/// is libtorch's own dropout.
torch::Tensor place_dropout(const torch::Tensor& x, double probability, std::uint64_t seed);

}  // namespace xlm
