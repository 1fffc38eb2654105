// A model's values for single tokens at the beginning of a split, for a figure with the text under it. Its values for
// single heads, at a place with enough text before it.
#pragma once

#include <vector>

#include "core/eval/evaluation.h"

namespace xlm {

/// Reads the first tokens of `source` (at most 512) as one row, with the state or the context that evaluation gives a
/// row. Empty if the model has no values for single tokens. Afterwards the model's statistics are those of this text.
TokenTrace trace_tokens(LanguageModel& model, const TokenSource& source, const Vocabulary& vocabulary,
                        const SplitSettings& settings);

/// How single heads look back (TracesHeads): one grid for each of ModelOutput::head_values, one row per head, layer by
/// layer. A row holds means over one block of tokens. Before the block stand as many tokens as a head may see, or as
/// many as `source` has. If there are more than 128 distances, neighbours share a column: it holds their mean and is
/// named by the largest distance. Empty if the model has no values for single heads.
std::vector<Grid> trace_heads(LanguageModel& model, const TokenSource& source, const SplitSettings& settings);

}  // namespace xlm
