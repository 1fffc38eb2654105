// The GPU kernels of attention as a program for one GPU, made by NVIDIA's run-time compiler (NVRTC), which comes with
// libtorch's CUDA libraries: what is built needs no CUDA compiler, and every GPU gets its own code.
#pragma once

#include <optional>
#include <string>

#include "base/files.h"
#include "core/cuda/kernels/band_arguments.h"

namespace xlm {

/// The compiler's library, where the CUDA libraries that libtorch was installed with have one.
std::optional<fs::path> find_nvrtc();

struct GpuProgram {
  std::string binary;  // a cubin
  std::string log;     // what the compiler says: registers, spills
};

/// attention_forward and attention_backward of a kind, each given band::Arguments, for a compute capability (80
/// is 8.0). Throws Error where there is no compiler, or it refuses.
GpuProgram compile_band_program(const band::Kind& kind, int capability);

}  // namespace xlm
