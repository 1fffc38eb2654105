// Memory of the runtime's stand-in: allocations, copies, fills.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/null_cuda/stand_in/device_memory.h"
#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/runtime.h"
#include "tests/null_cuda/stand_in/settings.h"
#include "tests/null_cuda/stand_in/streams.h"

namespace null_cuda {
namespace {

// Larger ones are only counted, so that models of any size need little of the host's memory.
constexpr std::size_t kCopied = std::size_t{64} << 20;
constexpr std::size_t kFilled = std::size_t{1} << 20;

/// What the settings let a copy from a GPU bring. Returns false if they do not say.
bool give_answer(void* to, std::size_t bytes) {
  const std::vector<Answer>& answers = settings().answers;
  for (auto answer = answers.rbegin(); answer != answers.rend(); ++answer) {
    if (answer->bytes != bytes || answer->numbers.empty()) continue;
    for (std::size_t i = 0; i < bytes / 8; ++i) {
      const double number = answer->numbers[i % answer->numbers.size()];
      const auto whole = static_cast<std::int64_t>(number);
      const void* source = answer->type == AnswerType::kReal ? static_cast<const void*>(&number) : &whole;
      std::memcpy(static_cast<char*>(to) + 8 * i, source, 8);
    }
    return true;
  }
  return false;
}

/// A single number is 1 if it is a byte (all numbers are finite), otherwise 0: memory that was used before holds any.
void bring_to_host(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t kNumber = 8;
  if (device_memory().take_kept(from)) {
    const OpenToHost open(from, bytes);
    std::memcpy(to, from, bytes);
  } else if (bytes == 1) {
    std::memset(to, 1, 1);
  } else if (give_answer(to, bytes)) {
    return;
  } else if (bytes <= kNumber) {
    std::memset(to, 0, bytes);
  } else {
    const OpenToHost open(from, bytes);
    std::memcpy(to, from, bytes);
  }
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaStream_t handle, bool waits) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  if (bytes == 0) return cudaSuccess;
  if (waits && is_refused("cudaMemcpy")) return result(cudaErrorStreamCaptureUnsupported);
  const bool to_gpu = device_memory().contains(to);
  const bool from_gpu = device_memory().contains(from);
  const bool fits =
      (!to_gpu || device_memory().contains(to, bytes)) && (!from_gpu || device_memory().contains(from, bytes));
  if (!fits) {
    violation("a copy goes beyond the end of an allocation");
    return result(cudaErrorInvalidValue);
  }
  const bool pageable = to_gpu != from_gpu && !device_memory().is_pinned(to_gpu ? from : to);
  if (pageable && is_refused_of(stream_of(handle), "a copy of memory that is not pinned")) {
    return result(cudaErrorStreamCaptureUnsupported);
  }
  enqueue(handle, "a copy");
  ++counts().copies;
  if (pageable) ++counts().pageable_copies;
  if (waits) ++counts().waits;
  if (to_gpu && from_gpu) return cudaSuccess;
  if (to_gpu) {
    if (bytes > kCopied) return cudaSuccess;
    const OpenToHost open(to, bytes);
    std::memcpy(to, from, bytes);
  } else if (from_gpu) {
    bring_to_host(to, from, bytes);
  } else {
    std::memcpy(to, from, bytes);
  }
  return cudaSuccess;
}

cudaError_t fill(void* place, int value, std::size_t bytes, cudaStream_t handle) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  if (bytes == 0) return cudaSuccess;
  if (!device_memory().contains(place, bytes)) {
    violation("a fill goes beyond the end of an allocation");
    return result(cudaErrorInvalidValue);
  }
  enqueue(handle, "a fill");
  ++counts().copies;
  if (bytes > kFilled) return cudaSuccess;
  const OpenToHost open(place, bytes);
  std::memset(place, value, bytes);
  return cudaSuccess;
}

}  // namespace
}  // namespace null_cuda

using namespace null_cuda;

extern "C" {

cudaError_t cudaMalloc(void** place, std::size_t bytes) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  if (is_refused("cudaMalloc")) return result(cudaErrorStreamCaptureUnsupported);
  ++counts().allocations;
  if (fails("malloc")) return result(cudaErrorMemoryAllocation);
  *place = device_memory().allocate(device_of_thread(), bytes);
  return result(*place != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void* place) {
  const Lock lock(mutex());
  if (place == nullptr) return cudaSuccess;
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  if (is_refused("cudaFree")) return result(cudaErrorStreamCaptureUnsupported);
  if (device_memory().free(place)) return cudaSuccess;
  violation("cudaFree of an address that is no allocation");
  return result(cudaErrorInvalidValue);
}

cudaError_t cudaMallocAsync(void** place, std::size_t bytes, cudaStream_t /*stream*/) {
  return cudaMalloc(place, bytes);
}
cudaError_t cudaFreeAsync(void* place, cudaStream_t /*stream*/) { return cudaFree(place); }

cudaError_t cudaHostAlloc(void** place, std::size_t bytes, unsigned /*flags*/) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  constexpr std::size_t kPage = 4096;
  *place = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (*place == nullptr) return result(cudaErrorMemoryAllocation);
  device_memory().pin(*place, bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* place) {
  const Lock lock(mutex());
  device_memory().unpin(place);
  std::free(place);
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void* place, std::size_t bytes, unsigned /*flags*/) {
  const Lock lock(mutex());
  device_memory().pin(place, bytes);
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* place) {
  const Lock lock(mutex());
  device_memory().unpin(place);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const Lock lock(mutex());
  if (const cudaError_t error = state(); error != cudaSuccess) return error;
  *total = static_cast<std::size_t>(settings().memory);
  *free = *total - device_memory().used(device_of_thread());
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* place) {
  const Lock lock(mutex());
  std::memset(attributes, 0, sizeof *attributes);
  void* address = const_cast<void*>(place);
  attributes->type = cudaMemoryTypeUnregistered;
  attributes->device = -1;
  if (const int device = device_memory().device_of(place); device >= 0) {
    attributes->type = cudaMemoryTypeDevice;
    attributes->device = device;
    attributes->devicePointer = address;
  } else if (device_memory().is_pinned(place)) {
    attributes->type = cudaMemoryTypeHost;
    attributes->device = device_of_thread();
    attributes->hostPointer = address;
    attributes->devicePointer = address;
  }
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t stream) {
  return copy(to, from, bytes, stream, /*waits=*/false);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/) {
  return copy(to, from, bytes, nullptr, /*waits=*/true);
}

cudaError_t cudaMemcpyPeerAsync(void* to, int /*device*/, const void* from, int /*source*/, std::size_t bytes,
                                cudaStream_t stream) {
  return copy(to, from, bytes, stream, /*waits=*/false);
}

cudaError_t cudaMemsetAsync(void* place, int value, std::size_t bytes, cudaStream_t stream) {
  return fill(place, value, bytes, stream);
}

cudaError_t cudaMemset(void* place, int value, std::size_t bytes) { return fill(place, value, bytes, nullptr); }

cudaError_t cudaMemcpyToSymbol(const void* /*symbol*/, const void* /*from*/, std::size_t /*bytes*/,
                               std::size_t /*offset*/, cudaMemcpyKind /*kind*/) {
  return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void** place, const void* /*symbol*/) {
  static char any[4096];
  *place = any;
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t /*pool*/, cudaMemPoolAttr /*name*/, void* value) {
  std::memset(value, 0, sizeof(std::uint64_t));
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t /*pool*/, cudaMemPoolAttr /*name*/, void* /*value*/) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t /*pool*/, const cudaMemAccessDesc* /*list*/, std::size_t /*count*/) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t /*pool*/, std::size_t /*bytes*/) { return cudaSuccess; }

}  // extern "C"
