// Initial weights, or their sizes alone (StepContext::sizes_alone).
#pragma once

#include <torch/torch.h>

namespace xlm {

/// Standard normal numbers times `deviation`.
torch::Tensor normal_weights(torch::IntArrayRef sizes, double deviation = 1);

/// Uniform in [-bound, bound].
torch::Tensor uniform_weights(torch::IntArrayRef sizes, double bound);

}  // namespace xlm
