// The evaluations that a sweep wants of a run beside its own: on other data, with other windows. They are kept in the
// run's journal from the day they are asked for, and done when its training is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/api/interface.h"
#include "experiments/runs/evaluation_record.h"
#include "experiments/runs/run_plan.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// Adds those of `wanted` that the run's journal does not have yet. The run has been submitted.
void want(const RunPaths& run, const std::vector<WantedEvaluation>& wanted);

/// The wanted evaluation as one that can be made. Throws UsageError and DataError where its settings do not suit the
/// model, or its data are not there.
EvaluationRequest request_of(const Run& run, const WantedEvaluation& wanted);

/// Those of `wanted` that a run whose training is done does not have. One whose data cannot be read is one of them.
std::vector<WantedEvaluation> missing_evaluations(const Run& run, const std::vector<WantedEvaluation>& wanted);

/// "test@model.overlap=20".
std::string shown(const WantedEvaluation& wanted);

}  // namespace xlm
