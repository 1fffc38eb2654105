// The cross-entropy of logits that are never all held at once. With many symbols they would take several times the
// memory of all the rest of a language model's step.
//
// m predictions, k features, V symbols.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

/// The target of a place without a token, which no loss counts: libtorch's own.
inline constexpr std::int64_t kNoTarget = -100;

/// Σ −log softmax(hidden·Wᵀ + b)[target], in nats, summed in double precision, of hidden [..., k], weight [V, k], bias
/// [V] or undefined, and targets [...]. Targets of kNoTarget do not count. Without a weight `hidden` holds the logits.
///
/// Where there are many symbols, logits are made for some rows at a time, on any device. Where gradients are wanted,
/// they are made in the same pass. So nothing of the size [m, V] is ever kept. Differentiable once.
torch::Tensor summed_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                                   const torch::Tensor& targets);

/// How many logits the composed version makes at a time.
struct LogitPieces {
  std::int64_t rows = 0;      // predictions; 0: as many as take 256 MB in float32
  std::int64_t multiple = 1;  // symbols are filled up to a multiple of it by some that are never predicted
};

/// The same in pieces by libtorch's own operations, none of which waits for the device: what a GPU is given, whose
/// products of bfloat16 want rows of a multiple of 64 symbols. Those that are filled in have the probability 0 and no
/// gradient.
torch::Tensor composed_summed_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                            const torch::Tensor& bias, const torch::Tensor& targets,
                                            const LogitPieces& pieces);

/// The same by libtorch's own operations, with all logits at once.
torch::Tensor plain_summed_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                         const torch::Tensor& bias, const torch::Tensor& targets);

}  // namespace xlm
