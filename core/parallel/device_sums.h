// Sums over the GPUs of the processes of a run, one GPU each.
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

  /// Sums float32 or double numbers, contiguous on the device, over all processes, in place; all get the same bits.
  /// Returns when the sums are complete. Throws LostProcessError if another process has ended; the object cannot be
  /// used after that.
  virtual void sum(const torch::Tensor& values) = 0;
};

/// Sums with NCCL, between the GPUs themselves. Null for the CPU, without a `group`, and if the program was built
/// without NCCL's header: the group's own sums are used then. All processes call it together. `give_up` is asked while
/// it waits for the others.
std::unique_ptr<DeviceSums> device_sums(ProcessGroup* group, torch::Device device, std::function<bool()> give_up);

}  // namespace xlm
