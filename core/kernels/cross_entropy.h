// Cross-entropy of a linear layer's outputs without these: logits of many symbols are several times as large as all
// the rest of a language model's step.
//
// m predictions, k features, V symbols.
#pragma once

#include <torch/torch.h>

namespace xlm {

/// The target of a place without a token, which no loss counts: libtorch's own.
inline constexpr std::int64_t kNoTarget = -100;

/// Σ −log softmax(hidden·Wᵀ + b)[target], in nats, summed in double precision: hidden [..., k], weight [V, k], bias [V]
/// or undefined, targets [...]; targets of kNoTarget do not count. Without a weight, `hidden` holds the logits.
/// Differentiable once. Where there are many symbols, logits are made for some rows at a time, and where gradients are
/// wanted, these are made with them: nothing of the size [m, V] is ever kept.
torch::Tensor summed_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight, const torch::Tensor& bias,
                                   const torch::Tensor& targets);

/// The same by libtorch's own operations, all logits at once.
torch::Tensor plain_summed_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                         const torch::Tensor& bias, const torch::Tensor& targets);

}  // namespace xlm
