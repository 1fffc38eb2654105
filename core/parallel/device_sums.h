// Sums over the GPUs of the processes that do a run together, each with a GPU of its own.
#pragma once

#include <functional>
#include <memory>

#include <torch/types.h>

#include "core/parallel/process_group.h"

namespace xlm {

class DeviceSums {
 public:
  DeviceSums() = default;
  DeviceSums(const DeviceSums&) = delete;
  DeviceSums& operator=(const DeviceSums&) = delete;
  virtual ~DeviceSums() = default;

  /// Adds up float32 or double numbers, contiguous on the device, over all processes, in place; all get the same bits.
  /// Returns when the sums are there. Throws LostProcessError where another process has ended; nothing may be asked
  /// after that.
  virtual void sum(const torch::Tensor& values) = 0;
};

/// By NCCL, between the GPUs themselves; null for the CPU, for no `group`, and where the program was built without
/// NCCL's header: the group's own sums do there. All processes call it together. `give_up` is asked while it waits for
/// the others.
std::unique_ptr<DeviceSums> device_sums(ProcessGroup* group, torch::Device device, std::function<bool()> give_up);

}  // namespace xlm
