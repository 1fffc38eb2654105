// Sums over GPUs by NCCL, which is in libtorch_cuda. Part of libxlm_cuda.so. Only the CUDA version of libtorch has
// NCCL's header; a build with the CPU version has no such sums.
#include "core/parallel/device_sums.h"

#if __has_include(<nccl.h>)
#include <nccl.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <fmt/format.h>

namespace xlm {
namespace {

/// NCCL waits forever for a process that has ended. This is how long a process may still take to finish its step.
constexpr std::chrono::seconds kGrace{10};

class NcclSums final : public DeviceSums {
 public:
  NcclSums(ProcessGroup& group, int device, std::function<bool()> give_up)
      : device_(static_cast<c10::DeviceIndex>(device)), give_up_(std::move(give_up)) {
    const c10::cuda::CUDAGuard guard(device_);
    ncclUniqueId meeting{};
    if (group.is_first()) check(ncclGetUniqueId(&meeting));
    std::vector<ncclUniqueId> all(static_cast<std::size_t>(group.size()));
    group.gather(&meeting, sizeof meeting, all.data());
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // so that a process can stop waiting for one that has ended
    try {
      settle(ncclCommInitRankConfig(&all_, static_cast<int>(group.size()), all.front(), static_cast<int>(group.rank()),
                                    &config));
    } catch (...) {
      abort();
      throw;
    }
  }

  ~NcclSums() override {
    if (all_ == nullptr) return;
    // The outcome of the last call no longer matters.
    if (ncclCommFinalize(all_) == ncclInProgress) {
      ncclResult_t state = ncclInProgress;
      const auto end = std::chrono::steady_clock::now() + kGrace;
      while (ncclCommGetAsyncError(all_, &state) == ncclSuccess && state == ncclInProgress) {
        if (std::chrono::steady_clock::now() > end) {
          abort();
          return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    ncclCommDestroy(all_);
  }

  void sum(const torch::Tensor& values) override {
    if (values.numel() == 0) return;
    const c10::cuda::CUDAGuard guard(device_);
    const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream(device_);
    const ncclDataType_t type = values.scalar_type() == torch::kDouble ? ncclDouble : ncclFloat;
    TORCH_CHECK(values.is_contiguous() && (type == ncclDouble || values.scalar_type() == torch::kFloat));
    try {
      settle(ncclAllReduce(values.data_ptr(), values.data_ptr(), static_cast<std::size_t>(values.numel()), type,
                           ncclSum, all_, stream.stream()));
      wait([&] { return !stream.query(); });
    } catch (...) {
      abort();
      throw;
    }
  }

 private:
  static void check(ncclResult_t result) {
    if (result == ncclSuccess) return;
    throw LostProcessError(fmt::format("the sum over GPUs by NCCL failed: {}: {}\nset NCCL_DEBUG=WARN for details",
                                       ncclGetErrorString(result), ncclGetLastError(nullptr)));
  }

  /// Waits until the host has done its part of the call that returned `result`.
  void settle(ncclResult_t result) {
    if (result != ncclInProgress) return check(result);
    wait([&] {
      check(ncclCommGetAsyncError(all_, &result));
      return result == ncclInProgress;
    });
    check(result);
  }

  /// Waits while `busy`. Throws LostProcessError if another process has ended.
  void wait(const std::function<bool()>& busy) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    Clock::time_point asked = Clock::time_point::max();  // since when it has been told to give up
    while (busy()) {
      const Clock::time_point now = Clock::now();
      if (now - begin < std::chrono::milliseconds(2)) {
        std::this_thread::yield();
        continue;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      ncclResult_t state = ncclSuccess;
      check(ncclCommGetAsyncError(all_, &state));
      if (state != ncclInProgress) check(state);
      if (!give_up_ || !give_up_()) continue;
      if (asked == Clock::time_point::max()) asked = now;
      if (now - asked > kGrace) throw LostProcessError("another process of the run has ended");
    }
  }

  /// Ends this process's part without the others, and what is running on the GPU.
  void abort() {
    if (all_ != nullptr) ncclCommAbort(all_);
    all_ = nullptr;
  }

  c10::DeviceIndex device_;
  std::function<bool()> give_up_;
  ncclComm_t all_ = nullptr;
};

}  // namespace

extern "C" DeviceSums* xlm_make_nccl_sums(ProcessGroup& group, int device, std::function<bool()> give_up) {
  return new NcclSums(group, device, std::move(give_up));
}

}  // namespace xlm
#else
namespace xlm {

extern "C" DeviceSums* xlm_make_nccl_sums(ProcessGroup& /*group*/, int /*device*/, std::function<bool()> /*give_up*/) {
  return nullptr;
}

}  // namespace xlm
#endif
