// The GPUs that there are, and what they say of themselves.
#include <cstdio>
#include <cstring>

#include "tests/null_cuda/stand_in/generations.h"
#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/runtime.h"
#include "tests/null_cuda/stand_in/settings.h"
#include "tests/null_cuda/stand_in/streams.h"

namespace null_cuda {
namespace {

constexpr int kRegisters = 65536;
constexpr int kThreadsOfBlock = 1024;
constexpr int kSharedWithoutAsking = 48 << 10;

int attribute(cudaDeviceAttr name) {
  switch (name) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return kThreadsOfBlock;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return 2147483647;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return kSharedWithoutAsking;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return generation().shared_of_block;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return generation().shared_of_multiprocessor;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return generation().threads;
    case cudaDevAttrMultiProcessorCount:
      return generation().multiprocessors;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return kRegisters;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return 32;
    case cudaDevAttrL2CacheSize:
      return 50 << 20;
    case cudaDevAttrClockRate:
      return 1'700'000;
    case cudaDevAttrComputeCapabilityMajor:
      return settings().capability / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return settings().capability % 10;
    default:
      return 0;
  }
}

int no_driver_call() { return 0; }

/// The primary context of every GPU is there.
int primary_context_state(int /*device*/, unsigned* flags, int* active) {
  if (flags != nullptr) *flags = 0;
  *active = 1;
  return 0;
}

}  // namespace

int& device_of_thread() {
  thread_local int device = 0;
  return device;
}

}  // namespace null_cuda

using namespace null_cuda;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = settings().devices;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = device_of_thread();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= settings().devices) return result(cudaErrorInvalidDevice);
  device_of_thread() = device;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int /*device*/) {
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "Null GPU");
  properties->major = settings().capability / 10;
  properties->minor = settings().capability % 10;
  properties->totalGlobalMem = static_cast<std::size_t>(settings().memory);
  properties->sharedMemPerBlock = kSharedWithoutAsking;
  properties->sharedMemPerBlockOptin = static_cast<std::size_t>(generation().shared_of_block);
  properties->sharedMemPerMultiprocessor = static_cast<std::size_t>(generation().shared_of_multiprocessor);
  properties->regsPerBlock = kRegisters;
  properties->regsPerMultiprocessor = kRegisters;
  properties->warpSize = 32;
  properties->memPitch = 2147483647;
  properties->maxThreadsPerBlock = kThreadsOfBlock;
  properties->maxThreadsDim[0] = kThreadsOfBlock;
  properties->maxThreadsDim[1] = kThreadsOfBlock;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = 65535;
  properties->maxGridSize[2] = 65535;
  properties->totalConstMem = 65536;
  properties->textureAlignment = 512;
  properties->texturePitchAlignment = 32;
  properties->multiProcessorCount = generation().multiprocessors;
  properties->maxThreadsPerMultiProcessor = generation().threads;
  properties->maxBlocksPerMultiProcessor = 32;
  properties->concurrentKernels = 1;
  properties->asyncEngineCount = 2;
  properties->unifiedAddressing = 1;
  properties->canMapHostMemory = 1;
  properties->cooperativeLaunch = 1;
  properties->memoryBusWidth = 5120;
  properties->l2CacheSize = 50 << 20;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int /*device*/) {
  *value = attribute(name);
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int /*device*/, int /*peer*/) {
  *can = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int /*peer*/, unsigned /*flags*/) { return cudaSuccess; }

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int /*device*/) {
  static char only;
  *pool = reinterpret_cast<cudaMemPool_t>(&only);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(device));
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  if (is_refused("cudaDeviceSynchronize")) return result(cudaErrorStreamCaptureUnsupported);
  ++counts().device_waits;
  end_piece_of_work();
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned /*version*/,
                                             unsigned long long /*flags*/, cudaDriverEntryPointQueryResult* found) {
  const bool is_state = std::strcmp(name, "cuDevicePrimaryCtxGetState") == 0;
  *function = is_state ? reinterpret_cast<void*>(primary_context_state) : reinterpret_cast<void*>(no_driver_call);
  if (found != nullptr) *found = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

}  // extern "C"
