// What a run wants of the splits of its data: asked before its first step, and not once all of them are done.
#pragma once

#include "core/api/interface.h"
#include "core/models/language_model.h"

namespace xlm {

/// Throws DataError where a split is too short to be evaluated, and where there is no validation split for the
/// evaluations that training is to make; UsageError if eval.first_token needs a symbol that the vocabulary lacks. That
/// eval.select has nothing to choose by, which some models' defaults ask for, is said to `sink`.
void check_splits(const PreparedData& data, const RunOptions& options, const LanguageModel& model, TrainSink& sink);

}  // namespace xlm
