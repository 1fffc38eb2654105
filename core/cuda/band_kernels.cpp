// The attention kernels on a GPU, part of libxlm_cuda.so. NVRTC, which comes with libtorch's CUDA libraries, compiles a
// kernel for the present GPU when it is first used, and the user's cache keeps it. Kernels run on libtorch's stream.
#include <array>
#include <map>
#include <mutex>
#include <vector>

#include <c10/cuda/CUDAGuard.h>

#include "base/disk_cache.h"
#include "core/cuda/gpu_functions.h"
#include "core/kernels/band_attention_device.h"
#include "core/kernels/gpu_program.h"

namespace xlm {
namespace {

class GpuBandKernels : public BandKernels {
 public:
  explicit GpuBandKernels(int device) : device_(device), gpu_(device) {}

  int shared_memory() const override { return gpu_.shared_memory(); }

  void forward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    start(kind, arguments, arguments.queries, heads, 0, band::forward_memory(kind));
  }
  void backward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    start(kind, arguments, arguments.queries, heads, 1, band::backward_queries_memory(kind));
    start(kind, arguments, arguments.keys, heads, 2, band::backward_keys_memory(kind));
  }

 private:
  void start(const band::Kind& kind, const band::Arguments& arguments, int rows, int heads, std::size_t which,
             int memory) {
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_));
    band::Arguments given = arguments;
    void* parameters[] = {&given};
    gpu_.start(functions(kind)[which], band::tiles_of(rows), heads, memory, parameters);
  }

  const std::vector<CUfunction>& functions(const band::Kind& kind) {
    const std::array<int, 5> key{kind.width, kind.two_queries, kind.masked, kind.dropped, kind.compact};
    const std::lock_guard lock(mutex_);  // backward passes run in other threads
    const auto found = kernels_.find(key);
    if (found != kernels_.end()) return found->second;
    std::vector<CUfunction> loaded =
        gpu_.load(program_binary(kind, gpu_.capability(), DiskCache(user_cache("kernels"))),
                  {{"attention_forward", band::forward_memory(kind)},
                   {"attention_backward_queries", band::backward_queries_memory(kind)},
                   {"attention_backward_keys", band::backward_keys_memory(kind)}});
    return kernels_.emplace(key, std::move(loaded)).first->second;
  }

  int device_;
  GpuFunctions gpu_;
  std::mutex mutex_;
  std::map<std::array<int, 5>, std::vector<CUfunction>> kernels_;
};

}  // namespace

extern "C" BandKernels* xlm_make_band_kernels(int device) { return new GpuBandKernels(device); }

}  // namespace xlm
