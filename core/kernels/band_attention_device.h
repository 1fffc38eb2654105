// Banded and relative attention by the program's own GPU kernels (core/cuda/kernels/band_tiles.cuh): both are
// attention over a band, forward and backward, in bfloat16 with sums in float32.
#pragma once

#include <torch/torch.h>

#include "core/cuda/kernels/band_arguments.h"
#include "core/kernels/banded_attention.h"
#include "core/kernels/relative_attention.h"

namespace xlm {

/// Runs the kernels: on a GPU (libxlm_cuda.so), in tests on a stand-in. Both run them in the order of the calls.
class BandKernels {
 public:
  virtual ~BandKernels() = default;
  /// Bytes of shared memory that a block may use.
  virtual int shared_memory() const = 0;
  /// Runs over `heads` heads of the whole batch.
  virtual void forward(const band::Kind& kind, const band::Arguments& arguments, int heads) = 0;
  /// The pass over queries, then the pass over keys.
  virtual void backward(const band::Kind& kind, const band::Arguments& arguments, int heads) = 0;
};

/// As banded_attention_plain, with the dropout of the CPU (banded_dropout_factors). All tensors are bfloat16, but the
/// span may be float32; d is 64, 96 or 128.
torch::Tensor banded_attention_by(BandKernels& kernels, const BandedAttentionInput& input);

/// As relative_attention_plain, with the dropout of the CPU (relative_dropout_factors).
torch::Tensor relative_attention_by(BandKernels& kernels, const RelativeAttentionInput& input);

}  // namespace xlm
