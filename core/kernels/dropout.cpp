// Seeds for draws by place.
#include "core/kernels/dropout.h"

#include <limits>

#include <torch/torch.h>

#include "core/kernels/step_context.h"

namespace xlm {
std::uint64_t draw_seed() {
  return static_cast<std::uint64_t>(
      torch::randint(std::numeric_limits<std::int64_t>::max(), {1}, torch::kLong).item<std::int64_t>());
}

std::uint64_t draw_dropout_seed() { return Dropout::seed_from_row(draw_seed(), step_context().first_row); }

}  // namespace xlm
