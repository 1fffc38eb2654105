// The GPU's attention kernels on a stand-in for a block of threads.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "tests/core/cuda/block_of_fibers.h"

#include "core/cuda/kernels/band_attention.cuh"
#include "core/kernels/band_attention_device.h"

namespace xlm {

/// Runs the kernels block by block. The order of threads is drawn from `order`.
class FiberKernels : public BandKernels {
 public:
  explicit FiberKernels(std::uint64_t order = 1) : order_(order) {}

  int shared_memory() const override { return 1 << 18; }

  /// Of all warps so far.
  std::int64_t multiplications() const { return multiplications_; }

  void forward(const band::Kind& kind, const band::Arguments& arguments, int tiles, int heads) override {
    run(kind, tiles, heads, band::forward_memory(kind),
        [&]<int width, bool two, bool masked, bool dropped> { band::forward<width, two, masked, dropped>(arguments); });
  }
  void backward(const band::Kind& kind, const band::Arguments& arguments, int tiles, int heads) override {
    run(kind, tiles, heads, band::backward_memory(kind), [&]<int width, bool two, bool masked, bool dropped> {
      band::backward<width, two, masked, dropped>(arguments);
    });
  }

 private:
  template <class Thread>
  void run(const band::Kind& kind, int tiles, int heads, int memory, const Thread& thread) {
    band::BlockOfFibers block(band::kThreads, static_cast<std::size_t>(memory), order_);
    for (int y = 0; y < heads; ++y) {
      for (int x = 0; x < tiles; ++x) block.run(x, y, [&] { of_width(kind, thread); });
    }
    multiplications_ += block.multiplications();
  }

  template <class Thread>
  static void of_width(const band::Kind& kind, const Thread& thread) {
    if (kind.width == 64) return of_kind<64>(kind, thread);
    if (kind.width == 96) return of_kind<96>(kind, thread);
    if (kind.width == 128) return of_kind<128>(kind, thread);
    throw std::logic_error("no kernel of this width");
  }

  template <int width, class Thread>
  static void of_kind(const band::Kind& kind, const Thread& thread) {
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

}  // namespace xlm
