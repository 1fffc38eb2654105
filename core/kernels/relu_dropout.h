// ReLU and dropout in one pass, forward and backward.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

/// max(x, 0), each element then 0 with `probability` and divided by 1 − probability otherwise, as the seed and its
/// place decide. Any shape and floating type. The backward pass needs the result alone: where it is above 0 the element
/// was kept. On a GPU torch's own operations, with its generator.
torch::Tensor relu_dropout(const torch::Tensor& x, double probability, std::uint64_t seed);

/// The same from libtorch's operations: what the kernel is tested against.
torch::Tensor relu_dropout_plain(const torch::Tensor& x, double probability, std::uint64_t seed);

}  // namespace xlm
