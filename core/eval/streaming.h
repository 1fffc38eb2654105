// Streaming evaluation: rows are read block by block, with state carried along
// (docs/models.md#the-past-of-a-stream).
#pragma once

#include "core/eval/evaluation.h"

namespace xlm {

/// The sum of the split's losses, `loss` not yet divided by `tokens`. The last, short block of a row is scored too.
SplitLoss evaluate_streaming(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                             const GoOn& go_on);

}  // namespace xlm
