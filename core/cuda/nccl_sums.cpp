// Sums over GPUs by NCCL, which libtorch_cuda brings: of the library libxlm_cuda.so. Its header comes with libtorch's
// CUDA set alone; what is built with the CPU set has no such sums.
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

/// NCCL itself waits for a process that has ended for ever. One that is only asked to stop does its step to the end.
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
    config.blocking = 0;  // so that whoever waits can be told that nobody will come
    try {
      settle(ncclCommInitRankConfig(&all_, static_cast<int>(group.size()), all.front(), static_cast<int>(group.rank()),
                                    &config));
    } catch (...) {
      leave();
      throw;
    }
  }

  ~NcclSums() override {
    if (all_ == nullptr) return;
    // The last call's outcome changes nothing any more.
    if (ncclCommFinalize(all_) == ncclInProgress) {
      ncclResult_t state = ncclInProgress;
      const auto end = std::chrono::steady_clock::now() + kGrace;
      while (ncclCommGetAsyncError(all_, &state) == ncclSuccess && state == ncclInProgress) {
        if (std::chrono::steady_clock::now() > end) {
          leave();
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
      leave();
      throw;
    }
  }

 private:
  static void check(ncclResult_t result) {
    if (result == ncclSuccess) return;
    throw LostProcessError(fmt::format("NCCL, by which GPUs add up: {}: {}\nNCCL_DEBUG=WARN says more",
                                       ncclGetErrorString(result), ncclGetLastError(nullptr)));
  }

  /// The call that returned `result` has been made, as far as the host has a part in it.
  void settle(ncclResult_t result) {
    if (result != ncclInProgress) return check(result);
    wait([&] {
      check(ncclCommGetAsyncError(all_, &result));
      return result == ncclInProgress;
    });
    check(result);
  }

  /// Waits while `busy`; throws LostProcessError where the others will not do their part.
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

  /// Without the others; what is under way on the GPU ends too.
  void leave() {
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
