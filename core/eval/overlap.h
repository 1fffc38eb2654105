// Overlap evaluation: windows over documents, with state or without (Yoshida et al. 2020, §4.2).
#pragma once

#include "core/eval/evaluation.h"

namespace xlm {

/// The sum of the split's losses, `loss` not yet divided by `tokens`: every token of a document is scored once, its
/// first only if `settings.first_token` says so. Windows without state are computed `settings.rows` at a time, wherever
/// they lie; with state, the windows of so many documents go on side by side.
SplitLoss evaluate_overlap(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                           const GoOn& go_on);

}  // namespace xlm
