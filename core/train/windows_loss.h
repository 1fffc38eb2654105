// Sequences of overlapping windows in training, with the gradient flowing back from window to window.
//
// B rows, N tokens of a sequence, T tokens of a window, O of them repeated, V symbols.
#pragma once

#include <cstdint>

#include <torch/torch.h>

#include "core/models/language_model.h"

namespace xlm {

/// The mean loss, in nats, of every window's scored predictions (docs/models.md#windows-and-overlap): tokens and
/// targets [B, N]. Every sequence starts without state. With `checkpoint` only what a window hands to the next is kept,
/// and each window is computed again when its gradient is asked for, which must then be by backward(), adding up in the
/// parameters' grad. The dropout of a window follows from libtorch's generator and its number, so that it is the same
/// again.
torch::Tensor windows_loss(LanguageModel& model, const torch::Tensor& tokens, const torch::Tensor& targets,
                           bool checkpoint);

}  // namespace xlm
