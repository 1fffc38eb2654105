// The program's own GPU kernels that compute rows: norms of residual sums, and losses of logits.
#pragma once

#include <functional>
#include <string>

#include <torch/torch.h>

#include "core/cuda/kernels/loss_arguments.h"
#include "core/cuda/kernels/norm_arguments.h"

namespace xlm {

/// Runs the kernels: on a GPU (libxlm_cuda.so), in tests on a stand-in. Both run them in the order of the calls.
class RowKernels {
 public:
  virtual ~RowKernels() = default;
  virtual void norm_forward(const norm::Kind& kind, const norm::Arguments& arguments) = 0;
  virtual void norm_backward(const norm::Kind& kind, const norm::Arguments& arguments) = 0;
  virtual void losses(const loss::Arguments& arguments) = 0;
};

/// Those of a GPU for which obstacle_to_row_kernels was null.
RowKernels& row_kernels_of(torch::Device device);

/// Why kernels are not used on a GPU; null if they are. `find_fault` tries them when they are first asked for: "" if
/// they compute what libtorch's operations do, otherwise what differs. `what` names them. Warns once of each that is
/// not used (TORCH_WARN). Passes on that memory ran out, and tries again when it is next asked. Throws Error, with what
/// to set in XLM_KERNELS, if the trial left the GPU unusable.
const char* obstacle_to_row_kernels(torch::Device device, const std::string& what, const char* instead,
                                    const std::function<std::string(RowKernels&)>& find_fault);

}  // namespace xlm
