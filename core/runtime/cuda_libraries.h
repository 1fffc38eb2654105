// The CUDA libraries that come with libtorch.
#pragma once

#include "base/files.h"

namespace xlm {

/// libtorch_cuda.so, next to the library that has libtorch's own functions.
fs::path torch_cuda_library();

/// The folder of CUDA's own libraries, next to libtorch's wheel; empty if the system does not say where that is.
fs::path cuda_library_folder();

/// Opens the part of NVIDIA's run-time compiler (NVRTC) that has its headers. NVRTC asks for it by its bare name, which
/// the system finds only if it has a CUDA toolkit, or if the library is open already. Without it NVRTC fails without a
/// message, for libtorch's operations that it compiles and for our kernels. Does nothing if the folder has no such
/// library.
void open_compiler_headers();

}  // namespace xlm
