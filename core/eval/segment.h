// The groups that a model pools a text into.
#pragma once

#include <cstdint>
#include <vector>

#include "core/eval/evaluation.h"

namespace xlm {

/// Where groups of `ids` end, one flag per token. The text is read as the strided evaluation reads a row: every
/// boundary is drawn once, with up to context − stride tokens before its window's own. Throws UsageError for a model
/// that draws no boundaries.
std::vector<bool> draw_boundaries(LanguageModel& model, const std::vector<std::int64_t>& ids,
                                  const SplitSettings& settings);

}  // namespace xlm
