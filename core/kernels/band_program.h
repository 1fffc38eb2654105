// The GPU kernels of attention as a program for one GPU, compiled by NVIDIA's run-time compiler (NVRTC), which comes
// with libtorch's CUDA libraries. So building needs no CUDA compiler, and every GPU gets its own code.
#pragma once

#include <optional>
#include <string>

#include "base/disk_cache.h"
#include "base/files.h"
#include "core/cuda/kernels/band_arguments.h"

namespace xlm {

/// The compiler's library, if libtorch's CUDA libraries include one.
std::optional<fs::path> find_nvrtc();

struct GpuProgram {
  std::string binary;  // a cubin
  std::string log;     // the compiler's messages: registers, spills
};

/// attention_forward, attention_backward_queries and attention_backward_keys of a kind, each called with
/// band::Arguments, for a compute capability (80 is 8.0). Throws Error if there is no compiler, or if it fails.
GpuProgram compile_band_program(const band::Kind& kind, int capability);

/// The binary of that program. It is compiled if `cache` does not have it, and then kept there.
std::string band_binary(const band::Kind& kind, int capability, const DiskCache& cache);

}  // namespace xlm
