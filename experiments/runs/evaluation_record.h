// Records the results of `xlm eval` and `xlm eval-overlap` in the journals of run folders, so a rebuild of the store
// finds them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/api/interface.h"
#include "experiments/runs/model_locator.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// A requested evaluation.
struct EvaluationRequest {
  LocatedModel place;
  RunOptions options;  // used: model, eval, data.path, device, and block, precision and tf32 of train
  std::string split;
  std::string experiment;  // the run is also listed under it; empty: no change
};

/// Finds an earlier evaluation of the same weights, on the same data, with the same settings. Lists its run under the
/// request's experiment. Returns nullopt if there is none.
std::optional<RunEvaluation> find_evaluation(const EvaluationRequest& request, const fs::path& runs);

/// Finds it among the evaluations of `run`, which must have the request's weights.
std::optional<RunEvaluation> find_evaluation(const EvaluationRequest& request, const Run& run);

/// Adds the evaluation and its settings to the journal of the run that trained the model, and returns that run's
/// folder. A model that no run trained has a run folder "eval-MODEL-DATASET-HASH" for each data set, created on first
/// use. The evaluation is final unless the journal has another final evaluation of this split with the run's own
/// settings. Its step is the step of the model's weights. `before` receives the run with the evaluation, before it is
/// recorded. If `before` throws, nothing is recorded.
fs::path record_evaluation(const EvaluationRequest& request, Evaluation evaluation, const fs::path& runs,
                           const std::function<void(const Run& run)>& before = nullptr);

/// Adds an evaluation of the weights of a program's run, made with `settings`, to the run's journal. One without
/// different settings takes the place of what the program itself reported of the split. `doubt`: what may have changed
/// its numbers, for lists; empty: nothing.
void record_evaluation(const Run& run, const Json& settings, Evaluation evaluation, const std::string& doubt = "");

/// An evaluation as a journal record, without its trace and the losses of its parts, which are separate records.
Json evaluation_record(const Evaluation& evaluation);
Json trace_record(const Evaluation& evaluation);
Json losses_record(const Evaluation& evaluation);

/// The numbers of an evaluation in one line: "loss 0.855  bpc 1.234  average_span 31".
std::string evaluation_text(const Evaluation& evaluation);

}  // namespace xlm
