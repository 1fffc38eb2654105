// Opens NCCL's sums.
#include "core/parallel/device_sums.h"

#include "base/shared_library.h"

namespace xlm {

std::unique_ptr<DeviceSums> device_sums(ProcessGroup* group, torch::Device device, std::function<bool()> give_up) {
  if (group == nullptr || !device.is_cuda()) return nullptr;
  using Make = DeviceSums* (*)(ProcessGroup&, int, std::function<bool()>);
  const auto make = reinterpret_cast<Make>(library_function("libxlm_cuda.so", "xlm_make_nccl_sums"));
  return std::unique_ptr<DeviceSums>(make(*group, device.index(), std::move(give_up)));
}

}  // namespace xlm
