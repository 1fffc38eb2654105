// Overlap evaluation: windows over documents, with state or without (Yoshida et al. 2020, §4.2).
#pragma once

#include "core/schemes/scheme.h"

namespace xlm {

/// As Scheme::evaluate. Scores every token of a document once, the first one only with `settings.first_token`. Without
/// state, `settings.rows` windows of any documents are computed at a time. With state, so many documents advance side
/// by side, window by window.
SplitLoss evaluate_windows(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                           const ProgressCallback& progress);

}  // namespace xlm
