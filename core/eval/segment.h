// The groups that a model pools a text into.
#pragma once

#include <cstdint>
#include <vector>

#include "core/eval/evaluation.h"

namespace xlm {

/// Where groups of `ids` end, one flag per token. Reads the text in windows, as a strided evaluation reads a row. Every
/// boundary is drawn once, with up to context − stride tokens before its window as context. A model of
/// TextScheme::kRandomWindows gets a beginning in front of each, and its stride is at most half of the context. Throws
/// UsageError if the model draws no boundaries.
std::vector<bool> draw_boundaries(LanguageModel& model, const std::vector<std::int64_t>& ids,
                                  const SplitSettings& settings);

}  // namespace xlm
