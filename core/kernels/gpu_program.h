// The program's own GPU kernels as programs for one GPU, compiled by NVIDIA's run-time compiler (NVRTC), which comes
// with libtorch's CUDA libraries. So building needs no CUDA compiler, and every GPU gets its own code.
#pragma once

#include <optional>
#include <string>

#include "base/disk_cache.h"
#include "base/files.h"
#include "core/cuda/kernels/band_arguments.h"
#include "core/cuda/kernels/norm_arguments.h"

namespace xlm {

/// The compiler's library, if libtorch's CUDA libraries include one.
std::optional<fs::path> find_nvrtc();

/// Threads of a block of every kernel.
constexpr int kBlockThreads = band::kThreads;

struct GpuProgram {
  std::string binary;  // a cubin
  std::string log;     // the compiler's messages: registers, spills
};

/// attention_forward, attention_backward_queries and attention_backward_keys of a kind, each called with
/// band::Arguments.
std::string program_text(const band::Kind& kind);

/// norm_forward, called with norm::Arguments, and norm_backward, with these and the number of its blocks.
std::string program_text(const norm::Kind& kind);

/// losses, called with loss::Arguments.
std::string loss_program_text();

/// Compiles such a text for a compute capability (80 is 8.0). Throws Error if there is no compiler, or if it fails.
GpuProgram compile_program(const std::string& text, int capability);

/// The binary of a text. It is compiled if `cache` does not have it, and then kept there.
std::string program_binary(const std::string& text, int capability, const DiskCache& cache);

}  // namespace xlm
