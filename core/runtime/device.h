// Where tensors live: the CPU, or an NVIDIA GPU whose libraries are opened only when one is there and asked for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "base/files.h"
#include "core/api/interface.h"

namespace xlm {

/// What this process knows of NVIDIA GPUs.
struct CudaState {
  bool usable = false;  // libtorch's CUDA libraries are open and see a GPU
  bool gpu = false;     // the system has a GPU that this process may use, whether or not that succeeds
  std::string reason;   // why it is not usable
};

/// Found once.
const CudaState& cuda_state();

/// The same, where a system with a GPU has one of `devices` and `library` is libtorch's. It stays open.
CudaState find_cuda(const std::vector<fs::path>& devices, const fs::path& library);

/// "cpu", "cuda", "cuda:N" or "auto": a GPU where there is one. Throws UsageError for anything else, Error when a GPU
/// is asked for, or is there for "auto", and cannot be had: a machine with a GPU never falls back to its CPU in
/// silence.
torch::Device choose_device(const std::string& name, const CudaState& cuda = cuda_state());

/// What environment.json says of a GPU: gpu, gpu_capability, gpu_memory (bytes), cuda and driver; of a CPU nothing.
std::map<std::string, std::string> describe_device(torch::Device device);

/// The release that /proc/driver/nvidia/version names: "580.65.06"; "" where it names none.
std::string driver_release(const std::string& text);

/// The device of a run, with the threads and the precision of products that it asks for, which hold for the whole
/// process. Of several processes on this machine each has a GPU of its own, one behind the other. Throws as
/// choose_device.
torch::Device prepare_device(const RunOptions& options, const Processes& processes = {});

/// Whether libtorch says that there was no memory, of the host or of a GPU.
bool is_out_of_memory(const c10::Error& error);

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
