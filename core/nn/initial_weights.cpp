// Initial weights.
#include "core/nn/initial_weights.h"

namespace xlm {
namespace {

thread_local int sizes_alone = 0;

torch::Tensor sized(torch::IntArrayRef sizes) { return torch::empty(sizes, torch::kMeta); }

}  // namespace

SizesAlone::SizesAlone() { ++sizes_alone; }

SizesAlone::~SizesAlone() { --sizes_alone; }

torch::Tensor normal_weights(torch::IntArrayRef sizes, double deviation) {
  if (sizes_alone > 0) return sized(sizes);
  return deviation == 1 ? torch::randn(sizes) : torch::randn(sizes) * deviation;
}

torch::Tensor uniform_weights(torch::IntArrayRef sizes, double bound) {
  return sizes_alone > 0 ? sized(sizes) : torch::empty(sizes).uniform_(-bound, bound);
}

}  // namespace xlm
