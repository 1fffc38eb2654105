// How layers declare their parameters to the model that owns them, and initial weights, or their sizes alone
// (StepContext::sizes_alone).
#pragma once

#include <functional>
#include <string>

#include <torch/torch.h>

namespace xlm {

/// Registers `initial` under a dotted name and returns the parameter.
using DeclareParameter = std::function<torch::Tensor(const std::string& name, torch::Tensor initial)>;

/// Standard normal numbers times `deviation`.
torch::Tensor normal_weights(torch::IntArrayRef sizes, double deviation = 1);

/// Uniform in [-bound, bound].
torch::Tensor uniform_weights(torch::IntArrayRef sizes, double bound);

}  // namespace xlm
