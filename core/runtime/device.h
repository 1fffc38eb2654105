// The device of tensors: the CPU, or an NVIDIA GPU whose libraries are opened only if there is one and it is requested.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "base/files.h"
#include "core/api/interface.h"

namespace xlm {

/// What this process knows about NVIDIA GPUs.
struct CudaState {
  bool usable = false;  // libtorch's CUDA libraries are open and see a GPU
  bool gpu = false;     // the system has a GPU that this process may use, even if opening it fails
  std::string reason;   // why it is not usable
  std::string remedy;   // what a user can do about it, after "use device=cpu"
};

/// Determined once.
const CudaState& cuda_state();

/// The same for a system that has a GPU if one of `devices` exists; `library` is libtorch's, and stays open.
CudaState find_cuda(const std::vector<fs::path>& devices, const fs::path& library);

/// "cpu", "cuda", "cuda:N" or "auto": a GPU if there is one. Throws UsageError for anything else. Throws Error if a
/// requested GPU, or for "auto" an existing one, is not available: a machine with a GPU never falls back silently to
/// its CPU.
torch::Device choose_device(const std::string& name, const CudaState& cuda = cuda_state());

/// The entries of environment.json for a GPU: gpu, gpu_capability, gpu_memory (bytes), cuda and driver; none for a CPU.
std::map<std::string, std::string> describe_device(torch::Device device);

/// The release in /proc/driver/nvidia/version: "580.65.06"; "" if there is none.
std::string driver_release(const std::string& text);

/// The device of a run, with its threads and its precision of products, which hold for the whole process. Several
/// processes use one GPU each, in order. Throws as choose_device, and UsageError if there are fewer GPUs.
torch::Device prepare_device(const RunOptions& options, const Processes& processes = {});

/// Whether libtorch reports that memory was not available: on the host, or on a GPU, to its own allocator or to a part
/// of CUDA that takes memory without it.
bool is_out_of_memory(const c10::Error& error);

/// The most bytes in use so far: by tensors on a GPU, by the whole process on the CPU.
std::int64_t peak_memory(torch::Device device);

/// The most bytes of a GPU that this process has taken for tensors so far, with those that it keeps for later ones:
/// what other processes cannot have. 0 on the CPU.
std::int64_t peak_reserved_memory(torch::Device device);

/// Bytes of a GPU that this process has or could still take, with its tensors; nullopt on the CPU.
std::optional<std::int64_t> gpu_memory_within_reach(torch::Device device);

/// Gives back memory of a GPU that is kept for later tensors. Has no effect on the CPU.
void return_kept_memory(torch::Device device);

/// Restarts the counts of peak_memory and peak_reserved_memory, after returning memory that was kept for later. Returns
/// false if the system cannot.
bool restart_peak_memory(torch::Device device);

/// Returns when a GPU has finished all its work; at once on the CPU.
void wait_for(torch::Device device);

/// Makes the C library keep freed memory for the next step instead of returning it to the system and requesting it
/// again, page by page. For the whole process.
void keep_freed_memory();

/// Autocast to bfloat16 inside its scope, for products on `device`; float32 changes nothing.
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

/// No autocast inside its scope, for operations that need all bits of their type.
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
