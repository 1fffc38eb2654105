// Parts of one tensor whose gradients may lie side by side already.
#pragma once

#include <vector>

#include <torch/torch.h>

namespace xlm {

/// x.unbind(dimension). If the gradients of all parts lie in one memory as the parts of x do, they are the gradient of
/// x without a copy; kernels that write them there save one. Otherwise they are stacked.
std::vector<torch::Tensor> unbind_joined(const torch::Tensor& x, std::int64_t dimension);

}  // namespace xlm
