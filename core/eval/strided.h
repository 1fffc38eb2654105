// Strided evaluation: windows that overlap, each scoring its last tokens with the ones before as context
// (docs/models.md#chunks-and-windows-of-the-hourglass).
#pragma once

#include "core/eval/evaluation.h"

namespace xlm {

/// The sum of the split's losses, `loss` not yet divided by `tokens`. Windows advance by `settings.stride` tokens and
/// score as many, with up to context − stride tokens before them as context; the last one may score fewer. At most the
/// first `settings.max_windows` of them.
SplitLoss evaluate_strided(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                           const GoOn& go_on);

}  // namespace xlm
