// How a layer declares its parameters to the model that owns them.
#pragma once

#include <functional>
#include <string>

#include <torch/torch.h>

namespace xlm {

/// Registers `initial` under a dotted name and returns the parameter.
using DeclareParameter = std::function<torch::Tensor(const std::string& name, torch::Tensor initial)>;

}  // namespace xlm
