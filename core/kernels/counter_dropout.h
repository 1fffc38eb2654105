// Dropout in one pass on the CPU, drawn by place (dropout.h): libtorch's own draws one random number after the other.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

/// x with elements dropped with `probability` and the others scaled to keep the mean, differentiable. On the CPU the
/// choice is a function of `seed` and place alone, and the backward pass makes it again instead of keeping it;
/// elsewhere it is libtorch's.
torch::Tensor place_dropout(const torch::Tensor& x, double probability, std::uint64_t seed);

}  // namespace xlm
