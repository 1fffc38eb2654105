// What a model says of single tokens at the beginning of a split, for a figure with the text under it.
#pragma once

#include "core/eval/evaluation.h"

namespace xlm {

/// Reads the first tokens of `source` (at most 512) as one row, with the state or the context that evaluation gives a
/// row. Empty where the model says nothing of single tokens. The model's statistics are then of this text.
TokenTrace trace_tokens(LanguageModel& model, const TokenSource& source, const Vocabulary& vocabulary,
                        const SplitSettings& settings);

}  // namespace xlm
