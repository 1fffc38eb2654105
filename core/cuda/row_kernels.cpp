// The kernels of rows on a GPU, part of libxlm_cuda.so; compiled and kept as those of attention.
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <c10/cuda/CUDAGuard.h>

#include "base/disk_cache.h"
#include "core/cuda/gpu_functions.h"
#include "core/kernels/gpu_program.h"
#include "core/kernels/row_kernels.h"

namespace xlm {
namespace {

class GpuRowKernels : public RowKernels {
 public:
  explicit GpuRowKernels(int device) : device_(device), gpu_(device) {}

  void norm_forward(const norm::Kind& kind, const norm::Arguments& arguments) override {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_));
    norm::Arguments given = arguments;
    void* parameters[] = {&given};
    gpu_.start(functions(kind)[0], norm::forward_blocks(arguments.rows), 1, 0, parameters);
  }
  void norm_backward(const norm::Kind& kind, const norm::Arguments& arguments) override {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_));
    norm::Arguments given = arguments;
    int blocks = norm::backward_blocks(kind, arguments.rows);
    void* parameters[] = {&given, &blocks};
    gpu_.start(functions(kind)[1], blocks, 1, norm::backward_memory(kind), parameters);
  }
  void losses(const loss::Arguments& arguments) override {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_));
    loss::Arguments given = arguments;
    void* parameters[] = {&given};
    gpu_.start(loss_function(), arguments.rows, 1, kLossMemory, parameters);
  }

 private:
  static constexpr int kLossMemory = 2 * 4 * kBlockThreads / 32;  // two floats of each warp

  CUfunction loss_function() {
    const std::lock_guard lock(mutex_);
    if (losses_ == nullptr) {
      losses_ = gpu_.load(loss_program_binary(gpu_.capability(), DiskCache(user_cache("kernels"))),
                          {{"losses", kLossMemory}})[0];
    }
    return losses_;
  }

  const std::vector<CUfunction>& functions(const norm::Kind& kind) {
    const std::pair<int, bool> key(kind.width, kind.centred);
    const std::lock_guard lock(mutex_);  // backward passes run in other threads
    const auto found = kernels_.find(key);
    if (found != kernels_.end()) return found->second;
    std::vector<CUfunction> loaded =
        gpu_.load(program_binary(kind, gpu_.capability(), DiskCache(user_cache("kernels"))),
                  {{"norm_forward", 0}, {"norm_backward", norm::backward_memory(kind)}});
    return kernels_.emplace(key, std::move(loaded)).first->second;
  }

  int device_;
  GpuFunctions gpu_;
  std::mutex mutex_;
  std::map<std::pair<int, bool>, std::vector<CUfunction>> kernels_;
  CUfunction losses_ = nullptr;
};

}  // namespace

extern "C" RowKernels* xlm_make_row_kernels(int device) { return new GpuRowKernels(device); }

}  // namespace xlm
