// The data that commands evaluate, and evaluating with a bar.
#pragma once

#include <string>

#include "cmd/command.h"
#include "experiments/runs/evaluation_record.h"
#include "experiments/runs/model_locator.h"

namespace xlm {

/// The data folder `given`, or that of the model's run. Throws UsageError if there is neither, DataError if the folder
/// does not exist.
std::string evaluation_data(const std::string& given, const LocatedModel& place);

/// Evaluates as `request` says, with a bar of that label, and records it.
Evaluation evaluate_and_record(const EvaluationRequest& request, const std::string& label, const GlobalOptions& global);

}  // namespace xlm
