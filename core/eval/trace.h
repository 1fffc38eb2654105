// What a model says of single tokens at the beginning of a split, for a figure with the text under it, and of single
// heads at a place with enough text behind it.
#pragma once

#include <vector>

#include "core/eval/evaluation.h"

namespace xlm {

/// Reads the first tokens of `source` (at most 512) as one row, with the state or the context that evaluation gives a
/// row. Empty where the model says nothing of single tokens. The model's statistics are then of this text.
TokenTrace trace_tokens(LanguageModel& model, const TokenSource& source, const Vocabulary& vocabulary,
                        const SplitSettings& settings);

/// How single heads look back (TracesHeads), a grid for each of ModelOutput::head_values with a row per head, layer by
/// layer: means over the block of tokens that stands behind as many as a head may see, or behind what `source` has of
/// them. Where there are more distances than 128, neighbours share a column, which is called by the farthest of them
/// and holds their mean. Empty for a model that says nothing of single heads.
std::vector<Grid> trace_heads(LanguageModel& model, const TokenSource& source, const SplitSettings& settings);

}  // namespace xlm
