// Sequences of overlapping windows in training, with the gradient flowing back from window to window.
//
// B rows, N tokens of a sequence, T tokens of a window, O of them repeated, V symbols.
#pragma once

#include <torch/torch.h>

#include "core/schemes/scheme.h"

namespace xlm {

/// The mean loss, in nats, of every window's scored predictions
/// (experiments/recipes/recurrence/README.md#windows-and-overlap): tokens and targets [B, N]. Every sequence starts
/// without state. Windows without state are computed side by side, many at a time; with kRecompute at most B at a time.
///
/// With kRecompute call backward() on the result: it adds the gradients to the parameters' grad. The dropout of a
/// window follows from libtorch's generator, the window's number and its row of the batch, so that recomputing draws
/// the same. In a step that is or could be recorded on a GPU (StepContext::seeds_on_device) it follows from the state
/// of the GPU's generator at the beginning of the step, and recomputing goes back to where a window began to draw.
torch::Tensor windows_loss(LanguageModel& model, const torch::Tensor& tokens, const torch::Tensor& targets,
                           ActivationPolicy policy);

}  // namespace xlm
