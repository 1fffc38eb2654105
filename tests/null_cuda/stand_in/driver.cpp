// The CUDA driver (libcuda.so.1): what starts the program's own kernels, and what makes libtorch believe in a driver.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/stat.h>

#include <cstring>
#include <optional>
#include <string>

#include "core/cuda/kernels/band_arguments.h"
#include "tests/null_cuda/stand_in/band_launch.h"
#include "tests/null_cuda/stand_in/generations.h"
#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/settings.h"
#include "tests/null_cuda/stand_in/streams.h"

namespace null_cuda {
namespace {

/// A function of a module, by its name; `shared` is what it was allowed.
struct Function {
  std::string name;
  int shared = 48 << 10;
};

Function& function_of(CUfunction handle) { return *reinterpret_cast<Function*>(handle); }

std::string described(BandPass pass, const xlm::band::Kind& kind, int shared) {
  return std::string(name_of(pass)) + " width " + std::to_string(kind.width) +
         (kind.two_queries ? " relative" : " banded") + (kind.masked ? " masked" : "") +
         (kind.dropped ? " dropped" : "") + " shared " + std::to_string(shared);
}

/// Which of the program's own kernels a function is, or none.
std::optional<BandPass> pass_of(const Function& function) {
  for (const BandPass pass : {BandPass::kForward, BandPass::kBackwardQueries, BandPass::kBackwardKeys}) {
    if (function.name == std::string("attention_") + name_of(pass)) return pass;
  }
  return std::nullopt;
}

CUresult launch_band(const Function& function, BandPass pass, unsigned tiles, unsigned heads, unsigned shared,
                     void* stream, const xlm::band::Arguments& arguments) {
  const xlm::band::Kind kind = kind_of(arguments);
  const int needed = shared_memory_of(pass, kind);
  if (static_cast<int>(shared) != needed) violation("an attention kernel gets another amount of shared memory");
  const int wanted_tiles = tiles_of(pass, arguments);
  if (static_cast<int>(tiles) != wanted_tiles) violation("an attention kernel gets another number of tiles");
  enqueue(stream, function.name.c_str());
  ++counts().launches;
  started(function.name);
  started_own(described(pass, kind, static_cast<int>(shared)));
  const std::string& folder = settings().values;
  if (!folder.empty()) run_band_kernel(pass, arguments, static_cast<int>(heads), folder);
  return CUDA_SUCCESS;
}

/// The file that says to the program that there is a GPU.
const char* existing(const char* path) {
  return path != nullptr && std::strcmp(path, "/dev/nvidiactl") == 0 ? "/dev/null" : path;
}

}  // namespace
}  // namespace null_cuda

using namespace null_cuda;

extern "C" {

// NVRTC asks the driver for its GPU, and does without if there is no driver.
CUresult cuInit(unsigned /*flags*/) { return CUDA_ERROR_NO_DEVICE; }

CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "invalid argument";
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice /*device*/, unsigned* flags, int* active) {
  if (flags != nullptr) *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice /*device*/) {
  static char only;
  *context = reinterpret_cast<CUcontext>(&only);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) { return cuDevicePrimaryCtxRetain(context, 0); }
CUresult cuCtxSetCurrent(CUcontext /*context*/) { return CUDA_SUCCESS; }

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  const Lock lock(mutex());
  if (lasting_error() != 0) return CUDA_ERROR_UNKNOWN;
  if (is_refused("cuModuleLoadData")) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  constexpr char kElf[] = "\177ELF";
  if (std::memcmp(image, kElf, sizeof kElf - 1) != 0) return CUDA_ERROR_INVALID_IMAGE;
  *module = reinterpret_cast<CUmodule>(new char);
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  delete reinterpret_cast<char*>(module);
  return CUDA_SUCCESS;
}

// Functions live as long as the process, as the program's modules do.
CUresult cuModuleGetFunction(CUfunction* function, CUmodule /*module*/, const char* name) {
  *function = reinterpret_cast<CUfunction>(new Function{.name = name});
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute name, int value) {
  const Lock lock(mutex());
  if (name != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;
  if (value > generation().shared_of_block) {
    violation("more shared memory than a block may have is asked for: " + function_of(function).name);
    return CUDA_ERROR_INVALID_VALUE;
  }
  function_of(function).shared = value;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction handle, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void** parameters,
                        void** /*extra*/) {
  const Lock lock(mutex());
  if (lasting_error() != 0) return CUDA_ERROR_UNKNOWN;
  const Function& function = function_of(handle);
  const bool grid_fits = grid_x > 0 && grid_y > 0 && grid_y <= 65535 && grid_z == 1;
  const bool block_fits = block_x == xlm::band::kThreads && block_y == 1 && block_z == 1;
  if (!grid_fits || !block_fits || static_cast<int>(shared) > function.shared) {
    violation("a grid, a block or its shared memory is not what an attention kernel may have");
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::optional<BandPass> pass = pass_of(function);
  if (!pass) {  // of libtorch's own compiler
    enqueue(stream, function.name.c_str());
    ++counts().launches;
    started(function.name);
    return CUDA_SUCCESS;
  }
  return launch_band(function, *pass, grid_x, grid_y, shared, stream,
                     *static_cast<const xlm::band::Arguments*>(parameters[0]));
}

// The program looks for the driver's file. Which of these the C library's headers name depends on its version.

int stat(const char* path, struct stat* found) noexcept {
  static const auto real = reinterpret_cast<int (*)(const char*, struct stat*)>(::dlsym(RTLD_NEXT, "stat"));
  return real(existing(path), found);
}

int stat64(const char* path, struct stat64* found) noexcept {
  static const auto real = reinterpret_cast<int (*)(const char*, struct stat64*)>(::dlsym(RTLD_NEXT, "stat64"));
  return real(existing(path), found);
}

int __xstat(int /*version*/, const char* path, struct stat* found) noexcept { return stat(path, found); }
int __xstat64(int /*version*/, const char* path, struct stat64* found) noexcept { return stat64(path, found); }

}  // extern "C"
