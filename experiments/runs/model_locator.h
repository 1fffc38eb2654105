// Finds the run or model that a user names (by run id, unique prefix of one, run folder, or model folder), and the
// options to evaluate it with.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "core/api/interface.h"
#include "experiments/configuration/weights_use.h"

namespace xlm {

struct LocatedModel {
  fs::path model;    // the model folder
  fs::path run;      // the run folder it belongs to; empty: the model folder stands alone
  std::string name;  // run id, or the model folder as given
};

/// Whether a run's model must exist, or may still be trained.
enum class ModelTense { kPresent, kFuture };

/// Throws DataError if `text` names nothing or its run has no model yet, and UsageError if several runs begin with it.
LocatedModel locate_model(const std::string& text, const fs::path& runs, ModelTense tense = ModelTense::kPresent);

/// The options of the model folder, with the precision (train.precision, train.tf32) and seed of its run, then
/// `overrides`. A model folder without a run has float32 and seed 1. Throws as read_model_folder.
RunOptions evaluation_options(const LocatedModel& place, const std::vector<std::string>& overrides,
                              WeightsUse use = WeightsUse::kAnything);

}  // namespace xlm
