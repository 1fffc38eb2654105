// Banded and relative attention by the program's own GPU kernels (core/cuda/kernels/band_attention.cuh): both are
// attention over a band, forward and backward, in bfloat16 with sums in float32.
#pragma once

#include <string>

#include <torch/torch.h>

#include "core/cuda/kernels/band_arguments.h"
#include "core/kernels/banded_attention.h"
#include "core/kernels/kernel_table.h"
#include "core/kernels/relative_attention.h"

namespace xlm {

/// Runs the kernels: on a GPU (libxlm_cuda.so), in tests on a stand-in. Both run them in the order of the calls.
class BandKernels {
 public:
  virtual ~BandKernels() = default;
  /// Bytes of shared memory that a block may use.
  virtual int shared_memory() const = 0;
  /// Both run over `tiles` tiles of queries of `heads` heads of the whole batch.
  virtual void forward(const band::Kind& kind, const band::Arguments& arguments, int tiles, int heads) = 0;
  virtual void backward(const band::Kind& kind, const band::Arguments& arguments, int tiles, int heads) = 0;
};

/// As banded_attention_plain, with the dropout of the CPU (banded_dropout_factors). All tensors are bfloat16, but the
/// span may be float32; d is 64, 96 or 128.
torch::Tensor banded_attention_by(BandKernels& kernels, const BandedAttentionInput& input);

/// As relative_attention_plain, with the dropout of the CPU (relative_dropout_factors).
torch::Tensor relative_attention_by(BandKernels& kernels, const RelativeAttentionInput& input);

/// Checks the kernels on a small case of each of both: values and gradients against the plain version in float32.
/// Returns "" if they agree, otherwise what differs, or why they cannot run.
std::string find_fault(BandKernels& kernels, torch::Device device);

/// Whether a grid has room for so many heads (rows of the batch times heads of a row): its second axis ends at 65,535.
bool fits_grid(std::int64_t heads);

/// Why the kernels cannot compute a call, or null. Those of a GPU are compared with the plain version when they are
/// first asked for. `two_queries`: one for content, one for positions.
const char* obstacle_to_band_kernels(const KernelCall& call, bool two_queries);

/// The kernels of a GPU for which there is no obstacle.
BandKernels& band_kernels_of(torch::Device device);

/// "own kernels in bfloat16", or "composed: " and the reason. Both functions throw Error if the check of the kernels
/// left the GPU unusable, and warn once for each GPU on which they are not used (TORCH_WARN).
std::string describe_attention(torch::Device device);

}  // namespace xlm
