// Where tensors live: the CPU, or an NVIDIA GPU whose libraries are opened only when one is there and asked for.
#pragma once

#include <string>

#include <torch/torch.h>

#include "core/api/interface.h"

namespace xlm {

/// "cpu", "cuda", "cuda:N" or "auto" (a GPU where there is one). Throws UsageError for anything else, Error when CUDA
/// is asked for and cannot be had.
torch::Device choose_device(const std::string& name);

/// The device of a run, with the threads and the precision of products that it asks for, which hold for the whole
/// process. Throws as choose_device.
torch::Device prepare_device(const RunOptions& options);

/// True where an NVIDIA driver is loaded and libtorch's CUDA libraries open; the answer is found once.
bool cuda_available();

/// The most bytes in use so far: of tensors on a GPU, of the whole process on the CPU.
std::int64_t peak_memory(torch::Device device);

/// Lets peak_memory count anew from now on, after memory that is kept for later was given back. False where the system
/// cannot.
bool restart_peak_memory(torch::Device device);

/// Returns when a GPU has done all it was given; at once on the CPU.
void wait_for(torch::Device device);

/// Makes the C library keep freed memory for the next step instead of giving it back to the system and asking for it
/// again, page by page. For the whole process.
void keep_freed_memory();

/// Autocast to bfloat16 inside its scope, for products on `device`; float32 leaves everything as it is.
class PrecisionScope {
 public:
  PrecisionScope(Precision precision, torch::Device device);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  torch::DeviceType type_;
  bool active_;
};

/// No autocast inside its scope, whatever holds around it, for what needs all bits of its type.
class FullPrecisionScope {
 public:
  explicit FullPrecisionScope(torch::Device device);
  ~FullPrecisionScope();
  FullPrecisionScope(const FullPrecisionScope&) = delete;
  FullPrecisionScope& operator=(const FullPrecisionScope&) = delete;

 private:
  torch::DeviceType type_;
  bool autocast_;
};

}  // namespace xlm
