// The loss of a model on a whole split, as the scheme of the model measures it.
#pragma once

#include "core/schemes/scheme.h"

namespace xlm {

/// Every token of a row but its first is predicted once; of a document, if `first_token` says so, its first as well.
/// The model's statistics are those of the split afterwards. Throws DataError if nothing in the split can be scored.
SplitLoss evaluate_split(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                         const GoOn& go_on);

/// What a model has counted in all processes, which all call this; null: in this one, which is alone.
Counts counts_of_all(const LanguageModel& model, ProcessGroup* group);
/// Makes what a model has counted that of all processes, which all call this.
void unite_counts(LanguageModel& model, ProcessGroup& group);

/// The settings that a run's options ask for.
SplitSettings split_settings(const RunOptions& options, torch::Device device);

}  // namespace xlm
