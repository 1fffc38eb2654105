// The GPU kernels of attention that are used: those that fit a GPU and compute what the plain versions do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <torch/torch.h>

#include "core/kernels/band_attention_device.h"
#include "core/kernels/kernel_table.h"

namespace xlm {

/// Checks the kernels of a head width on a small case: value and gradients against the plain version in float32, of
/// banded attention or, with `two_queries`, of relative attention. Returns "" if they agree, otherwise what differs.
/// Leaves the run's random numbers alone.
std::string find_fault(BandKernels& kernels, torch::Device device, std::int64_t width, bool two_queries);

/// The kernels of one GPU. Those of a head width, for one query or two, are examined when they are first asked for.
class ExaminedKernels {
 public:
  using Make = std::function<std::unique_ptr<BandKernels>()>;

  /// `make` is called when kernels are first asked for.
  ExaminedKernels(torch::Device device, Make make);

  /// Why the kernels of a width are not used; "" if they are. Looks at their shared memory first: what does not fit is
  /// never compiled. Warns once of each that is not used (TORCH_WARN). Passes on that memory ran out, and examines
  /// again when it is next asked. Throws Error if the examination left the GPU unusable.
  const std::string& obstacle(std::int64_t width, bool two_queries);

  /// "own kernels in bfloat16" with those that are not used and why; or "composed: " and the reason. Examines all.
  std::string describe();

  /// Those for which there is no obstacle.
  BandKernels& kernels() { return *kernels_; }

 private:
  std::string examine(std::int64_t width, bool two_queries);

  torch::Device device_;
  Make make_;
  std::mutex mutex_;
  std::unique_ptr<BandKernels> kernels_;
  std::map<std::pair<std::int64_t, bool>, std::string> obstacles_;
};

/// Whether a grid has room for so many heads (rows of the batch times heads of a row): its second axis ends at 65,535.
bool fits_grid(std::int64_t heads);

/// Why the kernels cannot compute a call, or null. `two_queries`: one for content, one for positions. Throws as
/// ExaminedKernels::obstacle.
const char* obstacle_to_band_kernels(const KernelCall& call, bool two_queries);

/// The kernels of a GPU for which there is no obstacle.
BandKernels& band_kernels_of(torch::Device device);

/// ExaminedKernels::describe of a GPU.
std::string describe_attention(torch::Device device);

}  // namespace xlm
