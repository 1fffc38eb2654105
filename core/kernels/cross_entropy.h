// The cross-entropy of logits that are never all held at once. With many symbols they would take several times the
// memory of all the rest of a language model's step.
//
// m predictions, k features, V symbols.
#pragma once

#include <cstdint>
#include <string>

#include <torch/torch.h>

#include "core/kernels/kernel_table.h"
#include "core/kernels/row_kernels.h"

namespace xlm {

/// The target of a position without a token, which no loss counts: libtorch's own value.
inline constexpr std::int64_t kNoTarget = -100;

/// Σ −log softmax(hidden·Wᵀ + b)[target], in nats, summed in double precision, of hidden [..., k], weight [V, k], bias
/// [V] or undefined, and targets [...]. Targets of kNoTarget do not count. Without a weight `hidden` holds the logits.
///
/// With many symbols, logits are computed for some rows at a time, on any device, with their gradients in the same pass
/// if those are wanted. So no tensor of the size [m, V] is ever kept. Differentiable once.
torch::Tensor summed_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                                   const torch::Tensor& targets);

/// How many logits the composed version computes at a time.
struct LogitPieces {
  std::int64_t rows = 0;      // predictions; 0: as many as take 256 MB in float32
  std::int64_t multiple = 1;  // symbols are padded to a multiple of it
  /// They compute losses of logits in bfloat16 and their gradient, without a bias, for multiples of 8. Null: libtorch.
  RowKernels* kernels = nullptr;
};

/// The same in pieces with libtorch's operations, none of which waits for the device: for GPUs, whose bfloat16 products
/// need rows of a multiple of 64 symbols. Padding symbols have the probability 0 and no gradient.
torch::Tensor composed_summed_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                            const torch::Tensor& bias, const torch::Tensor& targets,
                                            const LogitPieces& pieces);

/// Checks these kernels on a small case: "" if they agree with libtorch's operations, otherwise what differs. Leaves
/// the run's random numbers alone.
std::string find_loss_fault(RowKernels& kernels, torch::Device device);

/// Why they cannot compute a call, or null. Throws as obstacle_to_row_kernels.
const char* obstacle_to_loss_kernels(const KernelCall& call);

/// The same with libtorch's operations, with all logits at once.
torch::Tensor plain_summed_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                         const torch::Tensor& bias, const torch::Tensor& targets);

}  // namespace xlm
