// The loss of a model on a whole split, as the scheme of the model measures it.
#pragma once

#include "core/schemes/scheme.h"

namespace xlm {

/// Scores every token of a row once, except its first. Of a document it scores the first one too if `first_token` is
/// set. With `by_part` it also keeps the losses of parts. Afterwards the model's statistics are those of the split.
/// Throws DataError if nothing can be scored.
SplitLoss evaluate_split(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                         const ProgressCallback& progress);

/// A model's counts over all processes of `group`, each of which must call this. Null: this process alone.
Counts counts_of_all(const LanguageModel& model, ProcessGroup* group);
/// Sets a model's counts to those over all processes, each of which must call this.
void unite_counts(LanguageModel& model, ProcessGroup& group);

/// The settings that a run's options ask for.
SplitSettings split_settings(const RunOptions& options, torch::Device device);

/// For a model that is used on `device`, as train.cuda_graph says.
MakeRecorder evaluation_recorder(const RunOptions& options, torch::Device device);

}  // namespace xlm
