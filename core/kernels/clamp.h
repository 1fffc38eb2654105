// clamp with the gradient that it had when the papers were published.
#pragma once

#include <torch/torch.h>

namespace xlm {

/// x.clamp(low, high), whose gradient is 1 at both corners, too: spans that begin at whole numbers are there. That of
/// libtorch is 0 there from 2.14 on.
inline torch::Tensor clamp_with_corners(const torch::Tensor& x, double low, double high) {
  const torch::Tensor value = x.detach();
  const torch::Tensor moves = (value >= low).logical_and_(value <= high);
  return torch::where(moves, x, value.clamp(low, high));
}

}  // namespace xlm
