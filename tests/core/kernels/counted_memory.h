// Counts the memory of tensors on the CPU in libtorch's allocator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace xlm {

/// Counts the bytes that this thread's tensors allocate and free during its life.
class CountedMemory {
 public:
  CountedMemory() : counter_(std::make_shared<Counter>()), guard_(c10::DebugInfoKind::PROFILER_STATE, counter_) {}

  /// Bytes that are allocated now.
  std::int64_t live() const { return counter_->live; }
  /// The most bytes that were allocated at a time.
  std::int64_t peak() const { return counter_->peak; }

 private:
  struct Counter : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void* /*where*/, std::int64_t bytes, std::size_t /*allocated*/, std::size_t /*reserved*/,
                           c10::Device /*device*/) override {
      live += bytes;
      peak = std::max(peak, live);
    }
    bool memoryProfilingEnabled() const override { return true; }

    std::int64_t live = 0;
    std::int64_t peak = 0;
  };

  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace xlm
