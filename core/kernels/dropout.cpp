// Seeds for draws by place.
#include "core/kernels/dropout.h"

#include <limits>
#include <utility>

#include <torch/torch.h>

namespace xlm {
namespace {

thread_local std::int64_t first_row_of_part = 0;
thread_local bool seeds_on_device = false;

}  // namespace

PartOfBatch::PartOfBatch(std::int64_t first) : before_(std::exchange(first_row_of_part, first)) {}
PartOfBatch::~PartOfBatch() { first_row_of_part = before_; }
std::int64_t PartOfBatch::first_row() { return first_row_of_part; }

SeedsOnDevice::SeedsOnDevice() : before_(std::exchange(seeds_on_device, true)) {}
SeedsOnDevice::~SeedsOnDevice() { seeds_on_device = before_; }
bool SeedsOnDevice::wanted() { return seeds_on_device; }

std::uint64_t draw_seed() {
  return static_cast<std::uint64_t>(
      torch::randint(std::numeric_limits<std::int64_t>::max(), {1}, torch::kLong).item<std::int64_t>());
}

std::uint64_t draw_dropout_seed() { return Dropout::seed_from_row(draw_seed(), PartOfBatch::first_row()); }

}  // namespace xlm
