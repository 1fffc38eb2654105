// Finds the run or model that a user names (by run id, unique prefix of one, run folder, or model folder), and the
// options to evaluate it with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "core/api/interface.h"
#include "experiments/configuration/weights_use.h"

namespace xlm {

struct LocatedModel {
  fs::path model;    // the model folder; of locate_weights it may be a checkpoint
  fs::path run;      // the run folder it belongs to; empty: the model folder stands alone
  std::string name;  // run id, or the model folder as given
};

/// Whether a run's model must exist, or may still be trained.
enum class ModelTense { kPresent, kFuture };

/// Throws DataError if `text` names nothing or its run has no model yet, and UsageError if several runs begin with it.
LocatedModel locate_model(const std::string& text, const fs::path& runs, ModelTense tense = ModelTense::kPresent);

/// The folder of the run that `text` names: by id, the beginning of one or of its hash, or folder. Returns nullopt for
/// a model folder that stands alone. Throws DataError if there is none, and UsageError if several can be meant.
std::optional<fs::path> run_folder_of(const std::string& text, const fs::path& runs);

/// What training may begin from: a model as above, a checkpoint file of a run, or RUN@STEP. A run without a model,
/// where that must exist, gives its newest checkpoint. Whether a checkpoint that is named exists is not looked at.
LocatedModel locate_weights(const std::string& text, const fs::path& runs, ModelTense tense = ModelTense::kPresent);

/// The options of the model folder, with the precision (train.precision, train.tf32) and seed of its run, then
/// `overrides`. A model folder without a run has float32 and seed 1. Throws as read_model_folder.
RunOptions evaluation_options(const LocatedModel& place, const std::vector<std::string>& overrides,
                              WeightsUse use = WeightsUse::kAnything);

}  // namespace xlm
