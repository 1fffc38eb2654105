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
    run(kind, tiles, heads, forward_memory(kind), [&]<int width, bool two, bool masked, bool dropped, bool compact> {
      forward<width, two, masked, dropped, compact>(arguments);
    });
  }
  void run_backward_queries(const Kind& kind, const Arguments& arguments, int tiles, int heads) {
    const int memory = backward_queries_memory(kind);
    run(kind, tiles, heads, memory, [&]<int width, bool two, bool masked, bool dropped, bool compact> {
      backward_queries<width, two, masked, dropped, compact>(arguments);
    });
  }
  void run_backward_keys(const Kind& kind, const Arguments& arguments, int tiles, int heads) {
    const int memory = backward_keys_memory(kind);
    run(kind, tiles, heads, memory, [&]<int width, bool two, bool masked, bool dropped, bool compact> {
      backward_keys<width, two, masked, dropped, compact>(arguments);
    });
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
    if (kind.compact) {  // no GPU's blocks are too small for the usual kind 96 wide, and large enough for this one
      if (kind.width == 64) return of_kind<64, true>(kind, thread);
      if (kind.width == 128) return of_kind<128, true>(kind, thread);
    } else {
      if (kind.width == 64) return of_kind<64, false>(kind, thread);
      if (kind.width == 96) return of_kind<96, false>(kind, thread);
      if (kind.width == 128) return of_kind<128, false>(kind, thread);
    }
    throw std::logic_error("no kernel of this width");
  }

  template <int width, bool compact, class Thread>
  static void of_kind(const Kind& kind, const Thread& thread) {
    if (kind.two_queries) {
      if (kind.dropped) return thread.template operator()<width, true, false, true, compact>();
      return thread.template operator()<width, true, false, false, compact>();
    }
    if (kind.masked && kind.dropped) return thread.template operator()<width, false, true, true, compact>();
    if (kind.masked) return thread.template operator()<width, false, true, false, compact>();
    if (kind.dropped) return thread.template operator()<width, false, false, true, compact>();
    return thread.template operator()<width, false, false, false, compact>();
  }

  std::uint64_t order_;
  std::int64_t multiplications_ = 0;
};

}  // namespace xlm::band
