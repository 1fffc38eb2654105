// The GPU's attention kernels on a stand-in for a block of threads, as the program calls them.
#pragma once

#include <cstdint>

#include "tests/core/cuda/fiber_blocks.h"

#include "core/kernels/band_attention_device.h"

namespace xlm {

constexpr int kMuchSharedMemory = 1 << 18;

/// Runs the kernels block by block. The order of threads is drawn from `order`.
class FiberKernels : public BandKernels {
 public:
  explicit FiberKernels(std::uint64_t order = 1, int shared_memory = kMuchSharedMemory)
      : blocks_(order), shared_memory_(shared_memory) {}

  int shared_memory() const override { return shared_memory_; }

  /// Of all warps so far.
  std::int64_t multiplications() const { return blocks_.multiplications(); }

  void forward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    blocks_.run_forward(kind, arguments, band::tiles_of(arguments.queries), heads);
  }
  void backward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    blocks_.run_backward_queries(kind, arguments, band::tiles_of(arguments.queries), heads);
    blocks_.run_backward_keys(kind, arguments, band::tiles_of(arguments.keys), heads);
  }

 private:
  band::FiberBlocks blocks_;
  int shared_memory_;
};

}  // namespace xlm
