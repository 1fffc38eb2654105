// Norms of residual sums by the program's own GPU kernels (core/cuda/kernels/norm_rows.cuh): stream and sums in
// float32, what is added and what products read in bfloat16.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "core/cuda/kernels/norm_arguments.h"
#include "core/kernels/kernel_table.h"
#include "core/kernels/residual_norm.h"

namespace xlm {

/// Runs the kernels: on a GPU (libxlm_cuda.so), in tests on a stand-in. Both run them in the order of the calls.
class NormKernels {
 public:
  virtual ~NormKernels() = default;
  virtual void forward(const norm::Kind& kind, const norm::Arguments& arguments) = 0;
  virtual void backward(const norm::Kind& kind, const norm::Arguments& arguments) = 0;
};

/// residual_norm: the norm is bfloat16. The stream is float32, what is added bfloat16.
ResidualNorm residual_norm_by(NormKernels& kernels, const torch::Tensor& stream, const AddedPart& added,
                              const NormWeights& weights, const NormOptions& options);

/// normed_sum, likewise.
NormedStream normed_sum_by(NormKernels& kernels, const torch::Tensor& stream, const AddedPart& added,
                           const NormWeights& weights, const NormOptions& options);

/// Checks the kernels of a width on a small case, as find_fault of attention does: "" if they agree with libtorch's
/// operations, otherwise what differs.
std::string find_norm_fault(NormKernels& kernels, torch::Device device, std::int64_t width, bool centred);

/// Why the kernels cannot compute a call on rows of a width, or null. Throws Error if their trial left the GPU
/// unusable.
const char* obstacle_to_norm_kernels(const KernelCall& call);

/// The kernels of a GPU for which there is no obstacle.
NormKernels& norm_kernels_of(torch::Device device);

}  // namespace xlm
