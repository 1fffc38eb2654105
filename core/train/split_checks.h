// Whether the data's splits suffice for a run. This is checked before its first step, not after its last.
#pragma once

#include "core/api/interface.h"
#include "core/models/language_model.h"

namespace xlm {

/// Throws DataError if a split is too short to evaluate, or if train.eval_every needs a validation split that is
/// missing. Throws UsageError if eval.first_token needs a symbol that the vocabulary lacks. Only warns `sink` if
/// eval.select=best has no validation split, because that is the default of some models.
void check_splits(const PreparedData& data, const RunOptions& options, const LanguageModel& model, TrainSink& sink);

}  // namespace xlm
