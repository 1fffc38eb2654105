// The GPU's attention kernels on a stand-in for a block of threads, without libtorch.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "tests/core/cuda/block_of_fibers.h"

#include "core/cuda/kernels/band_backward_keys.cuh"
#include "core/cuda/kernels/band_forward.cuh"

namespace xlm::band {

/// Runs a kernel block by block. The order of threads is drawn from `order`.
class FiberBlocks {
 public:
  explicit FiberBlocks(std::uint64_t order) : order_(order) {}

  /// Products of matrices that all warps have computed so far.
  std::int64_t multiplications() const { return multiplications_; }

  void run_forward(const Kind& kind, const Arguments& arguments, int tiles, int heads) {
    run(kind, tiles, heads, forward_memory(kind),
        [&]<int width, bool two, bool masked, bool dropped> { forward<width, two, masked, dropped>(arguments); });
  }
  void run_backward_queries(const Kind& kind, const Arguments& arguments, int tiles, int heads) {
    run(kind, tiles, heads, backward_queries_memory(kind), [&]<int width, bool two, bool masked, bool dropped> {
      backward_queries<width, two, masked, dropped>(arguments);
    });
  }
  void run_backward_keys(const Kind& kind, const Arguments& arguments, int tiles, int heads) {
    run(kind, tiles, heads, backward_keys_memory(kind),
        [&]<int width, bool two, bool masked, bool dropped> { backward_keys<width, two, masked, dropped>(arguments); });
  }

 private:
  template <class Thread>
  void run(const Kind& kind, int tiles, int heads, int memory, const Thread& thread) {
    BlockOfFibers block(kThreads, static_cast<std::size_t>(memory), order_);
    for (int y = 0; y < heads; ++y) {
      for (int x = 0; x < tiles; ++x) block.run(x, y, [&] { of_width(kind, thread); });
    }
    multiplications_ += block.multiplications();
  }

  template <class Thread>
  static void of_width(const Kind& kind, const Thread& thread) {
    if (kind.width == 64) return of_kind<64>(kind, thread);
    if (kind.width == 96) return of_kind<96>(kind, thread);
    if (kind.width == 128) return of_kind<128>(kind, thread);
    throw std::logic_error("no kernel of this width");
  }

  template <int width, class Thread>
  static void of_kind(const Kind& kind, const Thread& thread) {
    if (kind.two_queries) {
      if (kind.dropped) return thread.template operator()<width, true, false, true>();
      return thread.template operator()<width, true, false, false>();
    }
    if (kind.masked && kind.dropped) return thread.template operator()<width, false, true, true>();
    if (kind.masked) return thread.template operator()<width, false, true, false>();
    if (kind.dropped) return thread.template operator()<width, false, false, true>();
    return thread.template operator()<width, false, false, false>();
  }

  std::uint64_t order_;
  std::int64_t multiplications_ = 0;
};

}  // namespace xlm::band
