// Facts about a GPU for a run's environment. Part of libxlm_cuda.so.
#include <cuda_runtime_api.h>

#include <string>

#include <c10/cuda/CUDAException.h>

namespace xlm {
namespace {

/// 13000 → "13.0".
std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

}  // namespace

/// Calls add(to, key, value) for every fact about a GPU.
extern "C" void xlm_describe_device(int device, void (*add)(void*, const char*, const char*), void* to) {
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  int runtime = 0;
  int driver = 0;
  C10_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  C10_CUDA_CHECK(cudaDriverGetVersion(&driver));
  add(to, "gpu", properties.name);
  add(to, "gpu_capability", (std::to_string(properties.major) + "." + std::to_string(properties.minor)).c_str());
  add(to, "gpu_memory", std::to_string(properties.totalGlobalMem).c_str());
  add(to, "cuda", cuda_version(runtime).c_str());
  add(to, "driver", ("for CUDA " + cuda_version(driver)).c_str());
}

}  // namespace xlm
