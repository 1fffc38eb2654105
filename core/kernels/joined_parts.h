// Parts of one tensor, taken and joined with as few copies as possible.
#pragma once

#include <vector>

#include <torch/torch.h>

namespace xlm {

/// x.unbind(dimension). If the gradients of all parts lie in one memory as the parts of x do, they are the gradient of
/// x without a copy; kernels that write them there save one. Otherwise they are stacked.
std::vector<torch::Tensor> unbind_joined(const torch::Tensor& x, std::int64_t dimension);

/// Slices of x along a dimension in the order of `indices`; x itself if these are all in their order.
torch::Tensor chosen_slices(const torch::Tensor& x, const std::vector<std::int64_t>& indices, std::int64_t dimension);

}  // namespace xlm
