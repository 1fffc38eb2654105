// Finding what a user means by a run or a model (a run id or a unique prefix of one, a run folder, or a model folder),
// and how it is evaluated.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "core/api/interface.h"
#include "experiments/configuration/weights_use.h"

namespace xlm {

struct LocatedModel {
  fs::path model;    // the model folder
  fs::path run;      // the run folder it belongs to; empty: a model folder of its own
  std::string name;  // run id, or the model folder as given
};

/// Whether the model of a run must be there, or may be the one that its training will make.
enum class ModelTense { kPresent, kFuture };

/// Throws DataError when there is nothing of that name or the run has no model yet, UsageError when several runs begin
/// with `text`.
LocatedModel locate_model(const std::string& text, const fs::path& runs, ModelTense tense = ModelTense::kPresent);

/// The options of its model folder in the precision of its run (train.precision, train.tf32), with `overrides` over
/// both, and with its seed. A model folder alone says neither: float32, and seed 1. Throws as read_model_folder.
RunOptions evaluation_options(const LocatedModel& place, const std::vector<std::string>& overrides,
                              WeightsUse use = WeightsUse::kAnything);

}  // namespace xlm
