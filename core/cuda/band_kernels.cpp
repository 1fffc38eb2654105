// The attention kernels on a GPU, part of libxlm_cuda.so. NVRTC, which comes with libtorch's CUDA libraries, compiles a
// kernel for the present GPU when it is first used, and the user's cache keeps it. Kernels run on libtorch's stream.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <map>
#include <mutex>
#include <string>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <fmt/format.h>

#include "base/disk_cache.h"
#include "base/error.h"
#include "core/kernels/band_attention_device.h"
#include "core/kernels/band_program.h"

namespace xlm {
namespace {

/// Functions of the CUDA driver's library, which libtorch has already opened.
struct Driver {
  decltype(&::cuModuleLoadData) load = nullptr;
  decltype(&::cuModuleGetFunction) find = nullptr;
  decltype(&::cuFuncSetAttribute) set = nullptr;
  decltype(&::cuLaunchKernel) launch = nullptr;
  decltype(&::cuGetErrorString) describe = nullptr;

  Driver() {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) throw Error(fmt::format("the CUDA driver's library does not open: {}", ::dlerror()));
    const auto get = [library](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      if (function == nullptr) throw Error(fmt::format("the CUDA driver has no {}", name));
    };
    get(load, "cuModuleLoadData");
    get(find, "cuModuleGetFunction");
    get(set, "cuFuncSetAttribute");
    get(launch, "cuLaunchKernel");
    get(describe, "cuGetErrorString");
  }

  void check(CUresult result, const char* what) const {
    if (result == CUDA_SUCCESS) return;
    const char* reason = "unknown";
    describe(result, &reason);
    TORCH_CHECK_WITH(OutOfMemoryError, result != CUDA_ERROR_OUT_OF_MEMORY, what, " an attention kernel: ", reason);
    throw Error(fmt::format("{} an attention kernel: {}", what, reason));
  }
};

class GpuBandKernels : public BandKernels {
 public:
  explicit GpuBandKernels(int device) : device_(device) {
    cudaDeviceProp properties{};
    C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
    capability_ = 10 * properties.major + properties.minor;
    shared_memory_ = static_cast<int>(properties.sharedMemPerBlockOptin);
    if (capability_ < 80) throw Error("the attention kernels need compute capability 8.0 or later");
  }

  int shared_memory() const override { return shared_memory_; }

  void forward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    start(kind, arguments, arguments.queries, heads, 0, band::forward_memory(kind));
  }
  void backward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    start(kind, arguments, arguments.queries, heads, 1, band::backward_queries_memory(kind));
    start(kind, arguments, arguments.keys, heads, 2, band::backward_keys_memory(kind));
  }

 private:
  using Functions = std::array<CUfunction, 3>;

  void start(const band::Kind& kind, const band::Arguments& arguments, int rows, int heads, std::size_t which,
             int memory) {
    const int tiles = band::tiles_of(rows);
    const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_));
    const CUfunction function = functions(kind)[which];
    band::Arguments given = arguments;
    void* parameters[] = {&given};
    driver_.check(
        driver_.launch(function, static_cast<unsigned>(tiles), static_cast<unsigned>(heads), 1, band::kThreads, 1, 1,
                       static_cast<unsigned>(memory), c10::cuda::getCurrentCUDAStream().stream(), parameters, nullptr),
        "cannot start");
  }

  const Functions& functions(const band::Kind& kind) {
    const std::array<int, 5> key{kind.width, kind.two_queries, kind.masked, kind.dropped, kind.compact};
    const std::lock_guard lock(mutex_);  // backward passes run in other threads
    const auto found = modules_.find(key);
    if (found != modules_.end()) return found->second;
    const std::string program = band_binary(kind, capability_, DiskCache(user_cache("kernels")));
    CUmodule module = nullptr;
    driver_.check(driver_.load(&module, program.data()), "cannot load");
    Functions functions{};
    const std::array<const char*, 3> names{"attention_forward", "attention_backward_queries",
                                           "attention_backward_keys"};
    const std::array<int, 3> memory{band::forward_memory(kind), band::backward_queries_memory(kind),
                                    band::backward_keys_memory(kind)};
    for (std::size_t i = 0; i < names.size(); ++i) {
      driver_.check(driver_.find(&functions[i], module, names[i]), "cannot find");
      driver_.check(driver_.set(functions[i], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, memory[i]),
                    "cannot give shared memory to");
    }
    return modules_.emplace(key, functions).first->second;
  }

  int device_;
  int capability_ = 0;
  int shared_memory_ = 0;  // bytes that a block may have
  Driver driver_;
  std::mutex mutex_;
  std::map<std::array<int, 5>, Functions> modules_;  // never unloaded
};

}  // namespace

extern "C" BandKernels* xlm_make_band_kernels(int device) { return new GpuBandKernels(device); }

}  // namespace xlm
