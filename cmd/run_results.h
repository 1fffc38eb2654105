// Results of a run as train and sweep show them.
#pragma once

#include <string>

#include "base/json.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// {"run_id", "experiment", "status", "reason"?, "evaluations": [{"split", "step", "tokens", "loss", …}]}.
Json run_json(const Run& run);

/// The final evaluations as an aligned table.
std::string results_table(const Run& run, int width);

/// The main evaluation of a split, or null.
const RunEvaluation* main_evaluation(const Run& run, const std::string& split);

}  // namespace xlm
