// Seeds for dropout that is drawn inside kernels.
#include "core/kernels/dropout.h"

#include <limits>

#include <torch/torch.h>

namespace xlm {

std::uint64_t draw_dropout_seed() {
  return static_cast<std::uint64_t>(
      torch::randint(std::numeric_limits<std::int64_t>::max(), {1}, torch::kLong).item<std::int64_t>());
}

}  // namespace xlm
