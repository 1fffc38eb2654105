// Sequences of overlapping windows in training, with the gradient flowing back from window to window.
//
// B rows, N tokens of a sequence, T tokens of a window, O of them repeated, V symbols.
#pragma once

#include <cstdint>

#include <torch/torch.h>

#include "core/models/language_model.h"

namespace xlm {

/// What becomes of what a window computes until its gradient is asked for.
enum class WindowsAre {
  kKept,
  kComputedAgain,  // kept is only what a window hands to the next
  kRecorded        // kept by a recording (captured_steps.h), in which a GPU's own generator cannot be seeded
};

/// The mean loss, in nats, of every window's scored predictions (docs/models.md#windows-and-overlap): tokens and
/// targets [B, N]. Every sequence starts without state. Windows that hand nothing on are computed side by side, many
/// at a time; of those that are computed again, as many as there are rows.
///
/// The gradient of windows that are computed again must be asked for by backward(), adding up in the parameters' grad.
/// The dropout of a window follows from libtorch's generator, its number and its row of the batch, so that it is the
/// same again; in a recording on a GPU, from the generator as the step found it.
torch::Tensor windows_loss(LanguageModel& model, const torch::Tensor& tokens, const torch::Tensor& targets,
                           WindowsAre are);

}  // namespace xlm
