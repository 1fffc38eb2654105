// Weights as a model begins with them, or their sizes alone.
#pragma once

#include <torch/torch.h>

namespace xlm {

/// Standard normal numbers times `deviation`.
torch::Tensor normal_weights(torch::IntArrayRef sizes, double deviation = 1);

/// Uniform in [-bound, bound].
torch::Tensor uniform_weights(torch::IntArrayRef sizes, double bound);

/// While one lives, the functions above give, on its thread, tensors that have a size and no numbers: what a model of
/// any size costs can be told without its memory.
class SizesAlone {
 public:
  SizesAlone();
  SizesAlone(const SizesAlone&) = delete;
  SizesAlone& operator=(const SizesAlone&) = delete;
  ~SizesAlone();
};

}  // namespace xlm
