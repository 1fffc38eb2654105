// Kernels that were compiled at run time, loaded and started on one GPU by the CUDA driver.
#include "core/cuda/gpu_functions.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <type_traits>

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <fmt/format.h>

#include "base/disk_cache.h"
#include "base/error.h"
#include "core/kernels/gpu_program.h"

namespace xlm {

CudaDriver::CudaDriver() {
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

void CudaDriver::check(CUresult result, const char* what) const {
  if (result == CUDA_SUCCESS) return;
  const char* reason = "unknown";
  describe(result, &reason);
  TORCH_CHECK_WITH(OutOfMemoryError, result != CUDA_ERROR_OUT_OF_MEMORY, what, " an own kernel: ", reason);
  throw Error(fmt::format("{} an own kernel: {}", what, reason));
}

GpuFunctions::GpuFunctions(int device) : device_(device) {
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  capability_ = 10 * properties.major + properties.minor;
  shared_memory_ = static_cast<int>(properties.sharedMemPerBlockOptin);
  if (capability_ < 80) throw Error("the program's own kernels need compute capability 8.0 or later");
}

const std::vector<CUfunction>& GpuFunctions::of(const Kind& kind, const std::function<Source()>& source) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(kind);
  return found != kernels_.end() ? found->second : kernels_.emplace(kind, load(source())).first->second;
}

std::vector<CUfunction> GpuFunctions::load(const Source& source) const {
  const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_));
  const std::string program = program_binary(source.text, capability_, DiskCache(user_cache("kernels")));
  CUmodule module = nullptr;
  driver_.check(driver_.load(&module, program.data()), "cannot load");
  std::vector<CUfunction> functions;
  for (const auto& [name, memory] : source.wanted) {
    CUfunction function = nullptr;
    driver_.check(driver_.find(&function, module, name), "cannot find");
    driver_.check(driver_.set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, memory),
                  "cannot give shared memory to");
    functions.push_back(function);
  }
  return functions;
}

void GpuFunctions::start(CUfunction function, int grid_x, int grid_y, int memory, void** arguments) const {
  const c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device_));
  driver_.check(
      driver_.launch(function, static_cast<unsigned>(grid_x), static_cast<unsigned>(grid_y), 1, kBlockThreads, 1, 1,
                     static_cast<unsigned>(memory), c10::cuda::getCurrentCUDAStream().stream(), arguments, nullptr),
      "cannot start");
}

}  // namespace xlm
