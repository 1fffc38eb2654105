// How the program's own GPU kernels are tried before they are used.
#pragma once

#include <functional>
#include <string>

#include <torch/torch.h>

namespace xlm {

/// What is wrong with the kernels of `what`: what `trial` returns, or its error; "" if nothing. Passes on that memory
/// ran out, which says nothing about kernels. The trial has gradients and no autocast. Throws Error, with what to set
/// in XLM_KERNELS instead, if the trial left the GPU unusable.
std::string fault_of_trial(torch::Device device, const char* what, const char* instead,
                           const std::function<std::string()>& trial);

/// |a − b| / |b|, by the 2-norm.
double relative_difference(const torch::Tensor& a, const torch::Tensor& b);

}  // namespace xlm
