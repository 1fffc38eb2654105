// The kernels of norms on a GPU, part of libxlm_cuda.so; compiled and kept as those of attention.
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <c10/cuda/CUDAGuard.h>

#include "base/disk_cache.h"
#include "core/cuda/gpu_functions.h"
#include "core/kernels/gpu_program.h"
#include "core/kernels/norm_device.h"

namespace xlm {
namespace {

class GpuNormKernels : public NormKernels {
 public:
  explicit GpuNormKernels(int device) : device_(device), gpu_(device) {}

  void forward(const norm::Kind& kind, const norm::Arguments& arguments) override {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_));
    norm::Arguments given = arguments;
    void* parameters[] = {&given};
    gpu_.start(functions(kind)[0], norm::forward_blocks(arguments.rows), 1, 0, parameters);
  }
  void backward(const norm::Kind& kind, const norm::Arguments& arguments) override {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_));
    norm::Arguments given = arguments;
    int blocks = norm::backward_blocks(kind, arguments.rows);
    void* parameters[] = {&given, &blocks};
    gpu_.start(functions(kind)[1], blocks, 1, norm::backward_memory(kind), parameters);
  }

 private:
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
};

}  // namespace

extern "C" NormKernels* xlm_make_norm_kernels(int device) { return new GpuNormKernels(device); }

}  // namespace xlm
