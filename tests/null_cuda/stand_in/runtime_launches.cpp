// Kernels of libtorch: registered with their names, started, not run.
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/null_cuda/stand_in/device_memory.h"
#include "tests/null_cuda/stand_in/generations.h"
#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/runtime.h"
#include "tests/null_cuda/stand_in/settings.h"
#include "tests/null_cuda/stand_in/streams.h"

namespace null_cuda {
namespace {

/// The mangled names of kernels, by the host's function that stands for each.
std::unordered_map<const void*, std::string>& kernel_names() {
  static auto& names = *new std::unordered_map<const void*, std::string>;
  return names;
}

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared;
  cudaStream_t stream;
};

std::vector<Configuration>& pushed_configurations() {
  thread_local std::vector<Configuration> pushed;
  return pushed;
}

bool is_possible(const dim3& grid, const dim3& block, std::size_t shared) {
  constexpr unsigned kMax = 65535;
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  const bool grid_fits =
      grid.x > 0 && grid.x <= 2147483647U && grid.y > 0 && grid.y <= kMax && grid.z > 0 && grid.z <= kMax;
  return grid_fits && threads > 0 && threads <= 1024 && block.z <= 64 &&
         shared <= static_cast<std::size_t>(generation().shared_of_block);
}

/// What a faulty program would do, so that tests can see it found.
void do_planted(const std::string& plant) {
  if (plant == "launch") ++counts().launches;
  if (plant == "wait" && captures() > 0) cudaDeviceSynchronize();
  if (plant == "host-read" && counts().launches % 50 == 0) {
    void* place = nullptr;
    if (cudaMalloc(&place, 4096) == cudaSuccess) (void)*static_cast<volatile char*>(place);
  }
}

cudaError_t launch(const void* function, const dim3& grid, const dim3& block, std::size_t shared, cudaStream_t stream) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  const auto found = kernel_names().find(function);
  static const std::string unknown = "a kernel without a name";
  const std::string& name = found != kernel_names().end() ? found->second : unknown;
  if (!is_possible(grid, block, shared)) {
    violation("a grid, a block or its shared memory is larger than this GPU allows, or empty: " + name);
    return result(cudaErrorInvalidConfiguration);
  }
  enqueue(stream, name.c_str());
  ++counts().launches;
  started(name);
  if (fails("kernel")) set_lasting_error(cudaErrorIllegalAddress);
  if (fails("device")) set_lasting_error(cudaErrorUnknown);
  if (!settings().plant.empty()) do_planted(settings().plant);
  return cudaSuccess;
}

cudaError_t occupancy(int* blocks) {
  *blocks = 2;
  return cudaSuccess;
}

}  // namespace
}  // namespace null_cuda

using namespace null_cuda;

extern "C" {

void** __cudaRegisterFatBinary(void* /*binary*/) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}
void __cudaUnregisterFatBinary(void** /*handle*/) {}
char __cudaInitModule(void** /*handle*/) { return 1; }
void __cudaRegisterVar(void** /*handle*/, char* /*host*/, char* /*address*/, const char* /*name*/, int /*external*/,
                       std::size_t /*bytes*/, int /*constant*/, int /*global*/) {}

void __cudaRegisterFunction(void** /*handle*/, const char* function, char* /*device_function*/, const char* name,
                            int /*threads*/, uint3* /*thread*/, uint3* /*block*/, dim3* /*block_size*/,
                            dim3* /*grid_size*/, int* /*warp_size*/) {
  const Lock lock(mutex());
  kernel_names()[function] = name;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, CUstream_st* stream) {
  pushed_configurations().push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  std::vector<Configuration>& pushed = pushed_configurations();
  if (pushed.empty()) return result(cudaErrorInvalidConfiguration);
  const Configuration last = pushed.back();
  pushed.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** /*arguments*/, std::size_t shared,
                               cudaStream_t stream) {
  return launch(kernel, grid, block, shared, stream);
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** /*arguments*/, std::size_t shared,
                             cudaStream_t stream) {
  return launch(function, grid, block, shared, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** /*arguments*/,
                                        std::size_t shared, cudaStream_t stream) {
  return launch(function, grid, block, shared, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* function, void** /*arguments*/) {
  return launch(function, configuration->gridDim, configuration->blockDim, configuration->dynamicSmemBytes,
                configuration->stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* /*function*/) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 64;
  attributes->maxDynamicSharedSizeBytes = 48 << 10;
  attributes->binaryVersion = generation().compiled;
  attributes->ptxVersion = generation().compiled;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute name, int value) {
  const Lock lock(mutex());
  const bool too_much = name == cudaFuncAttributeMaxDynamicSharedMemorySize && value > generation().shared_of_block;
  if (!too_much) return cudaSuccess;
  const auto found = kernel_names().find(function);
  violation("more shared memory than a block may have is asked for: " +
            (found != kernel_names().end() ? found->second : std::string("a kernel without a name")));
  return result(cudaErrorInvalidValue);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* /*function*/, int /*threads*/,
                                                          std::size_t /*shared*/) {
  return occupancy(blocks);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* /*function*/,
                                                                   int /*threads*/, std::size_t /*shared*/,
                                                                   unsigned /*flags*/) {
  return occupancy(blocks);
}

}  // extern "C"
