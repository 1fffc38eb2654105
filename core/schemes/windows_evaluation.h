// Overlap evaluation: windows over documents, with state or without (Yoshida et al. 2020, §4.2).
#pragma once

#include "core/schemes/scheme.h"

namespace xlm {

/// As Scheme::evaluate. Every token of a document is scored once, its first only with `settings.first_token`. Windows
/// without state are computed `settings.rows` at a time, wherever they lie; with state, the windows of so many
/// documents advance side by side.
SplitLoss evaluate_windows(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                           const GoOn& go_on);

}  // namespace xlm
