// How the program's own GPU kernels are tried before they are used.
#include "core/kernels/kernel_trial.h"

#include <new>

#include <fmt/format.h>

#include "base/error.h"
#include "core/runtime/device.h"

namespace xlm {

std::string fault_of_trial(torch::Device device, const char* what, const char* instead,
                           const std::function<std::string()>& trial) {
  // The first call may come while evaluating, or under autocast, which would round the plain version too.
  const torch::AutoGradMode gradients(true);
  const c10::impl::ExcludeDispatchKeyGuard exact(c10::autocast_dispatch_keyset);
  std::string fault;
  try {
    fault = trial();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& error) {
    if (is_out_of_memory(error)) throw;
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

double relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  const torch::Tensor reference = b.to(torch::kDouble);
  return ((a.to(torch::kDouble) - reference).norm() / reference.norm()).item<double>();
}

}  // namespace xlm
