// Norms of residual sums by the program's own GPU kernels (core/cuda/kernels/norm_rows.cuh): stream and sums in
// float32, what is added and what products read in bfloat16.
#pragma once

#include <cstdint>
#include <string>

#include <torch/torch.h>

#include "core/kernels/kernel_table.h"
#include "core/kernels/residual_norm.h"
#include "core/kernels/row_kernels.h"

namespace xlm {

/// residual_norm: the norm is bfloat16. The stream is float32, what is added bfloat16.
ResidualNorm residual_norm_by(RowKernels& kernels, const torch::Tensor& stream, const AddedPart& added,
                              const NormWeights& weights, const NormOptions& options);

/// normed_sum, likewise.
NormedStream normed_sum_by(RowKernels& kernels, const torch::Tensor& stream, const AddedPart& added,
                           const NormWeights& weights, const NormOptions& options);

/// Checks the kernels of a width on a small case: "" if they agree with libtorch's operations, otherwise what differs.
/// Leaves the run's random numbers alone.
std::string find_norm_fault(RowKernels& kernels, torch::Device device, std::int64_t width, bool centred);

/// Why the kernels cannot compute a call on rows of a width, or null. Throws Error if their trial left the GPU
/// unusable.
const char* obstacle_to_norm_kernels(const KernelCall& call);

}  // namespace xlm
