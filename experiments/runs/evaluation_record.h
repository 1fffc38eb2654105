// Where the evaluations that people ask for are kept, so that they survive a rebuild of the store.
#pragma once

#include <optional>
#include <string>

#include "core/api/interface.h"
#include "experiments/runs/model_locator.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// An evaluation that was asked for: of which model, with which settings.
struct EvaluationRequest {
  LocatedModel place;
  RunOptions options;  // model, eval, train.block, data.path, device as they were used
  std::string split;
  std::string experiment;  // to which a run folder made for it belongs; empty: none
};

/// The same evaluation where it was made before: of the same weights, on the same data, with the same settings.
std::optional<RunEvaluation> find_evaluation(const EvaluationRequest& request, const fs::path& runs);

/// Adds the evaluation, with its settings, to the journal of the run that it belongs to: the model's own run where the
/// data and the model's options are that run's, otherwise a run folder "eval-MODEL-DATASET-HASH", made on first use,
/// which says that this model was measured on these data. It counts as the final one of its split where the journal has
/// none. Returns the folder.
fs::path record_evaluation(const EvaluationRequest& request, Evaluation evaluation, const fs::path& runs);

}  // namespace xlm
