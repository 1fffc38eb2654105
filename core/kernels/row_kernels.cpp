// The program's own GPU kernels that compute rows, and their trial.
#include "core/kernels/row_kernels.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/shared_library.h"
#include "core/kernels/kernel_trial.h"

namespace xlm {
namespace {

struct KernelsOfGpu {
  std::mutex mutex;
  std::unique_ptr<RowKernels> kernels;
  std::map<std::string, std::string> obstacles;  // by what was tried
};

KernelsOfGpu& kernels_of_gpu(torch::Device device) {
  static std::mutex mutex;
  static std::map<int, KernelsOfGpu> all;
  const std::lock_guard lock(mutex);
  return all[device.index()];
}

}  // namespace

RowKernels& row_kernels_of(torch::Device device) { return *kernels_of_gpu(device).kernels; }

const char* obstacle_to_row_kernels(torch::Device device, const std::string& what, const char* instead,
                                    const std::function<std::string(RowKernels&)>& find_fault) {
  KernelsOfGpu& gpu = kernels_of_gpu(device);
  const std::lock_guard lock(gpu.mutex);
  const auto found = gpu.obstacles.find(what);
  if (found != gpu.obstacles.end()) return found->second.empty() ? nullptr : found->second.c_str();
  std::string found_fault = fault_of_trial(device, what.c_str(), instead, [&] {
    if (!gpu.kernels) {
      using MakeKernels = RowKernels* (*)(int);
      const auto make = reinterpret_cast<MakeKernels>(library_function("libxlm_cuda.so", "xlm_make_row_kernels"));
      gpu.kernels.reset(make(device.index()));
    }
    return find_fault(*gpu.kernels);
  });
  const std::string& fault = gpu.obstacles.emplace(what, std::move(found_fault)).first->second;
  if (fault.empty()) return nullptr;
  TORCH_WARN(what, " on ", device.str(), " are libtorch's: ", fault);
  return fault.c_str();
}

}  // namespace xlm
