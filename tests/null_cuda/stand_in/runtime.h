// Shared by the files of the runtime's stand-in (libcudart.so.13).
#pragma once

#include <cuda_runtime_api.h>

namespace null_cuda {

/// Keeps an error for cudaGetLastError of this thread, and returns it.
cudaError_t result(cudaError_t error);

/// The beginning of every call: cudaSuccess, or what all calls return since a kernel failed or the GPU was lost.
cudaError_t state();

/// The GPU that this thread uses.
int& device_of_thread();

}  // namespace null_cuda
