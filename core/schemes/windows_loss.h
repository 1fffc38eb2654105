// Sequences of overlapping windows in training, with the gradient flowing back from window to window.
//
// B rows, N tokens of a sequence, T tokens of a window, O of them repeated, V symbols.
#pragma once

#include <torch/torch.h>

#include "core/schemes/scheme.h"

namespace xlm {

/// The mean loss, in nats, of every window's scored predictions (docs/models.md#windows-and-overlap): tokens and
/// targets [B, N]. Every sequence starts without state. Windows that hand nothing on are computed side by side, many
/// at a time; of those that are recomputed, as many as there are rows.
///
/// Recomputed windows need backward(), which adds up gradients in the parameters' grad. The dropout of a window follows
/// from libtorch's generator, its number and its row of the batch, so that recomputing gives the same; in a recording
/// on a GPU, from the generator as the step found it.
torch::Tensor windows_loss(LanguageModel& model, const torch::Tensor& tokens, const torch::Tensor& targets,
                           ActivationPolicy policy);

}  // namespace xlm
