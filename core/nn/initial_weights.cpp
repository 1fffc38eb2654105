// Initial weights.
#include "core/nn/initial_weights.h"

#include "core/kernels/step_context.h"

namespace xlm {
namespace {

torch::Tensor sized(torch::IntArrayRef sizes) { return torch::empty(sizes, torch::kMeta); }

}  // namespace

torch::Tensor normal_weights(torch::IntArrayRef sizes, double deviation) {
  if (step_context().sizes_alone) return sized(sizes);
  return deviation == 1 ? torch::randn(sizes) : torch::randn(sizes) * deviation;
}

torch::Tensor uniform_weights(torch::IntArrayRef sizes, double bound) {
  return step_context().sizes_alone ? sized(sizes) : torch::empty(sizes).uniform_(-bound, bound);
}

}  // namespace xlm
