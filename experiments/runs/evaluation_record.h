// Keeps the results of `xlm eval` and `xlm eval-overlap` in the journals of run folders, where a rebuild of the store
// finds them again.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/api/interface.h"
#include "experiments/runs/model_locator.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// An evaluation that was asked for.
struct EvaluationRequest {
  LocatedModel place;
  RunOptions options;  // of these count: model, eval, data.path, device, and of train block, precision and tf32
  std::string split;
  std::string experiment;  // the run is counted to it as well; empty: to none
};

/// The result of the same evaluation, if it was made before: of the same weights, on the same data, with the same
/// settings. Nothing otherwise.
std::optional<RunEvaluation> find_evaluation(const EvaluationRequest& request, const fs::path& runs);

/// The same, among the evaluations of `run`, whose weights the request's are.
std::optional<RunEvaluation> find_evaluation(const EvaluationRequest& request, const Run& run);

/// Adds the evaluation, with its settings, to the journal of the run that it belongs to: the one that trained the
/// model, on whichever data it was made. A model folder that no run trained has a run folder "eval-MODEL-DATASET-HASH",
/// made on first use, for each data that it is measured on. Where the journal has no final
/// evaluation of the split with the run's own settings, or this one takes its place, this one counts as final. Its step
/// is that whose weights became the model. `before` is shown the run as it is then, before the journal says so: where
/// it throws, nothing is recorded. Returns the folder.
fs::path record_evaluation(const EvaluationRequest& request, Evaluation evaluation, const fs::path& runs,
                           const std::function<void(const Run& run)>& before = nullptr);

/// An evaluation as the journal holds it, and its trace, where it has one, as a record of its own.
Json evaluation_record(const Evaluation& evaluation);
Json trace_record(const Evaluation& evaluation);

/// "loss 0.855  bpc 1.234  average_span 31": the numbers of an evaluation for people.
std::string evaluation_text(const Evaluation& evaluation);

}  // namespace xlm
