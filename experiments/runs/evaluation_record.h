// Keeps the results of `xlm eval` and `xlm eval-overlap` in the journals of run folders, where a rebuild of the store
// finds them again.
#pragma once

#include <optional>
#include <string>

#include "core/api/interface.h"
#include "experiments/runs/model_locator.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// An evaluation that was asked for.
struct EvaluationRequest {
  LocatedModel place;
  RunOptions options;  // of these count: model, eval, train.block, data.path, device
  std::string split;
  std::string experiment;  // the run folder is added to it; empty: to none
};

/// The result of the same evaluation, if it was made before: of the same weights, on the same data, with the same
/// settings. Nothing otherwise.
std::optional<RunEvaluation> find_evaluation(const EvaluationRequest& request, const fs::path& runs);

/// Adds the evaluation and its settings to the journal of a run folder, which it returns.
///
/// If the model comes from a run, and data and model options are that run's, it is the folder of that run. Otherwise it
/// is a folder of its own for this model on these data, "eval-MODEL-DATASET-HASH", which is made when it is first
/// needed. The evaluation becomes the final one of its split if the journal has no final one yet.
fs::path record_evaluation(const EvaluationRequest& request, Evaluation evaluation, const fs::path& runs);

}  // namespace xlm
