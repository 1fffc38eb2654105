// Initial weights, or their sizes alone.
#pragma once

#include <torch/torch.h>

namespace xlm {

/// Standard normal numbers times `deviation`.
torch::Tensor normal_weights(torch::IntArrayRef sizes, double deviation = 1);

/// Uniform in [-bound, bound].
torch::Tensor uniform_weights(torch::IntArrayRef sizes, double bound);

/// While it lives, the functions above return, on its thread, tensors that have a size but no numbers. So the cost of a
/// model of any size is known without its memory.
class SizesAlone {
 public:
  SizesAlone();
  SizesAlone(const SizesAlone&) = delete;
  SizesAlone& operator=(const SizesAlone&) = delete;
  ~SizesAlone();
};

}  // namespace xlm
