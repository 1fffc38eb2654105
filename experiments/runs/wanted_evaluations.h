// The evaluations that a sweep wants of a run in addition to its own: on other data, with other windows. The run's
// journal records them when they are asked for. They are made after training.
#pragma once

#include <string>
#include <vector>

#include "core/api/interface.h"
#include "experiments/runs/evaluation_record.h"
#include "experiments/runs/run_plan.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// Adds those of `wanted` that the run's journal does not have yet, and freezes their code. The run must have been
/// submitted.
void want(const RunPaths& run, const std::vector<WantedEvaluation>& wanted);

/// The wanted evaluation as a request. Throws UsageError or DataError if its settings do not suit the model, or if its
/// data are missing.
EvaluationRequest request_of(const Run& run, const WantedEvaluation& wanted);

/// Those of `wanted` that a trained run does not have yet. An evaluation whose data cannot be read counts as missing,
/// and one of a sealed split does not.
std::vector<WantedEvaluation> missing_evaluations(const Run& run, const std::vector<WantedEvaluation>& wanted);

/// The evaluations that a worker of this user has to make: those that the journal wants and does not have. A command
/// that others put there is left out.
std::vector<WantedEvaluation> evaluations_to_make(const Run& run);

/// The settings of an evaluation that a program is to make: what it changes, with a hash of the command, its patterns
/// and its code. So a changed command measures again.
Json settings_by_program(const WantedEvaluation& wanted);

/// "test@model.overlap=20".
std::string shown(const WantedEvaluation& wanted);

}  // namespace xlm
