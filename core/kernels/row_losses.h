// Cross-entropy of rows of logits where only its sum is wanted.
#pragma once

#include <torch/torch.h>

namespace xlm {

/// Σ −log softmax(logits)[target] over logits [..., V] and targets [...]; targets of kNoTarget do not count. On the CPU
/// row by row, without another tensor of the logits' size, and with a sum in double. No gradient.
double summed_row_losses(const torch::Tensor& logits, const torch::Tensor& targets);

}  // namespace xlm
