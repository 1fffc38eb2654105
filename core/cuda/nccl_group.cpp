// Processes that join by NCCL, which is in libtorch_cuda. Part of libxlm_cuda.so. Only the CUDA version of libtorch has
// NCCL's header; a build with the CPU version has no such groups.
#include "core/parallel/process_group.h"

#if __has_include(<nccl.h>)
#include <nccl.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <fmt/format.h>

#include "core/parallel/group_id.h"

namespace xlm {
namespace {

/// NCCL waits forever for a process that has ended. This is how long a process may still take to finish its step.
constexpr std::chrono::seconds kGrace{10};
/// The same if all are asked to stop: they have the same amount of work.
constexpr std::chrono::seconds kStopGrace{60};

class NcclGroup final : public ProcessGroup {
 public:
  NcclGroup(const Processes& processes, int device)
      : ProcessGroup(processes.rank, processes.count),
        processes_(processes),
        device_(static_cast<c10::DeviceIndex>(device)) {
    // All are on this machine: NCCL need not listen where other machines reach it.
    ::setenv("NCCL_SOCKET_IFNAME", "lo", /*overwrite=*/0);
    const c10::cuda::CUDAGuard guard(device_);
    ncclUniqueId id{};
    std::unique_ptr<GroupIdFile> file;  // until all have joined
    if (is_first()) {
      check(ncclGetUniqueId(&id));
      file = std::make_unique<GroupIdFile>(processes.meeting, std::string_view(id.internal, sizeof id.internal));
    } else {
      std::memcpy(id.internal, await_group_id(processes, sizeof id.internal).data(), sizeof id.internal);
    }
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // so that a process can stop waiting for one that has ended
    try {
      settle(ncclCommInitRankConfig(&all_, static_cast<int>(size()), id, static_cast<int>(rank()), &config));
    } catch (...) {
      abort();
      throw;
    }
  }

  ~NcclGroup() override {
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

  using ProcessGroup::max;
  using ProcessGroup::sum;
  void sum(const torch::Tensor& values) override { reduce(values, ncclSum); }
  void max(const torch::Tensor& values) override { reduce(values, ncclMax); }

  torch::Tensor gather(const torch::Tensor& own) override {
    const torch::Tensor here = own.contiguous().to(torch::Device(torch::kCUDA, device_));
    std::vector<std::int64_t> sizes = own.sizes().vec();
    sizes.insert(sizes.begin(), size());
    const torch::Tensor all = torch::empty(sizes, here.options());
    if (own.numel() == 0) return all;
    call([&](cudaStream_t stream) {
      return ncclAllGather(here.data_ptr(), all.data_ptr(), here.nbytes(), ncclUint8, all_, stream);
    });
    return all;
  }

 private:
  void reduce(const torch::Tensor& values, ncclRedOp_t operation) {
    if (values.numel() == 0) return;
    const ncclDataType_t type = values.scalar_type() == torch::kDouble ? ncclDouble : ncclFloat;
    TORCH_CHECK(values.is_contiguous() && (type == ncclDouble || values.scalar_type() == torch::kFloat));
    const torch::Tensor here = values.to(torch::Device(torch::kCUDA, device_));
    call([&](cudaStream_t stream) {
      return ncclAllReduce(here.data_ptr(), here.data_ptr(), static_cast<std::size_t>(here.numel()), type, operation,
                           all_, stream);
    });
    if (!values.is_cuda()) values.copy_(here);
  }

  /// Starts a collective operation and waits for its result.
  void call(const std::function<ncclResult_t(cudaStream_t)>& start) {
    const c10::cuda::CUDAGuard guard(device_);
    const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream(device_);
    try {
      settle(start(stream.stream()));
      wait([&] { return !stream.query(); });
    } catch (...) {
      abort();
      throw;
    }
  }

  static void check(ncclResult_t result) {
    if (result == ncclSuccess) return;
    throw LostProcessError(fmt::format("NCCL failed between the GPUs: {}: {}\nset NCCL_DEBUG=WARN for details",
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
      if (!processes_.is_to_leave()) continue;
      if (asked == Clock::time_point::max()) asked = now;
      const bool ended = processes_.give_up && processes_.give_up();
      if (now - asked <= (ended ? kGrace : kStopGrace)) continue;
      throw LostProcessError(ended ? "another process of the run has ended"
                                   : "the run is to stop, and another process of it does nothing");
    }
  }

  /// Ends this process's part without the others, and what is running on the GPU.
  void abort() {
    if (all_ != nullptr) ncclCommAbort(all_);
    all_ = nullptr;
  }

  Processes processes_;
  c10::DeviceIndex device_;
  ncclComm_t all_ = nullptr;
};

}  // namespace

extern "C" ProcessGroup* xlm_join_by_nccl(const Processes& processes, int device) {
  return new NcclGroup(processes, device);
}

}  // namespace xlm
#else
namespace xlm {

extern "C" ProcessGroup* xlm_join_by_nccl(const Processes& /*processes*/, int /*device*/) { return nullptr; }

}  // namespace xlm
#endif
