// Results of a run as train and sweep show them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// {"run_id", "experiment", "status", "reason"?, "evaluations": [{"split", "step", "tokens", "loss", …}]}.
Json run_json(const Run& run);

/// The final evaluations as an aligned table.
std::string results_table(const Run& run, int width);

/// Ids of runs where there is little room: the ends of them that tell them apart, "…73432e84e8da56b7" by what follows
/// the last '-', or whole where that is not enough.
std::vector<std::string> short_ids(const std::vector<std::string>& ids);

/// The main evaluation of a split, or null.
const RunEvaluation* main_evaluation(const Run& run, const std::string& split);

}  // namespace xlm
