// The program's own GPU kernels that compute rows, and their trial.
#include "core/kernels/row_kernels.h"

#include <map>
#include <memory>
#include <mutex>
#include <new>

#include <fmt/format.h>

#include "base/error.h"
#include "base/shared_library.h"
#include "core/runtime/device.h"

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

std::string fault_of(KernelsOfGpu& gpu, torch::Device device, const std::string& what, const char* instead,
                     const std::function<std::string(RowKernels&)>& find_fault) {
  std::string fault;
  try {
    if (!gpu.kernels) {
      using MakeKernels = RowKernels* (*)(int);
      const auto make = reinterpret_cast<MakeKernels>(library_function("libxlm_cuda.so", "xlm_make_row_kernels"));
      gpu.kernels.reset(make(device.index()));
    }
    // The first call may come while evaluating, or under autocast, which would round the plain version too.
    const torch::AutoGradMode gradients(true);
    const c10::impl::ExcludeDispatchKeyGuard exact(c10::autocast_dispatch_keyset);
    fault = find_fault(*gpu.kernels);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& error) {
    if (is_out_of_memory(error)) throw;  // says nothing about the kernels
    fault = error.what_without_backtrace();
  } catch (const std::exception& error) {
    fault = error.what();
  }
  try {
    wait_for(device);
  } catch (const std::exception&) {  // the device cannot compute any more
    throw Error(fmt::format(
        "{} is unusable after this program's kernels of {} were tried on it: {}\nset XLM_KERNELS={} to do without them",
        device.str(), what, fault, instead));
  }
  return fault;
}

}  // namespace

RowKernels& row_kernels_of(torch::Device device) { return *kernels_of_gpu(device).kernels; }

const std::string& obstacle_to_row_kernels(torch::Device device, const std::string& what, const char* instead,
                                           const std::function<std::string(RowKernels&)>& find_fault) {
  KernelsOfGpu& gpu = kernels_of_gpu(device);
  const std::lock_guard lock(gpu.mutex);
  const auto found = gpu.obstacles.find(what);
  if (found != gpu.obstacles.end()) return found->second;
  const std::string& fault =
      gpu.obstacles.emplace(what, fault_of(gpu, device, what, instead, find_fault)).first->second;
  if (!fault.empty()) TORCH_WARN(what, " on ", device.str(), " are libtorch's: ", fault);
  return fault;
}

double relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  const torch::Tensor reference = b.to(torch::kDouble);
  return ((a.to(torch::kDouble) - reference).norm() / reference.norm()).item<double>();
}

}  // namespace xlm
