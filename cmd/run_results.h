// Results of a run as train and sweep show them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// {"run_id", "experiment", "status", "reason"?, "evaluations": [{"split", "step", "tokens", "loss", …}]}.
Json run_json(const Run& run);

/// A line for each split with results; empty without any. `width` as TextTable::render takes it.
std::string results_table(const Run& run, int width);

/// Short ids for narrow tables: the part behind the last '-', "…73432e84e8da56b7", or the whole ids if those parts are
/// not unique.
std::vector<std::string> short_ids(const std::vector<std::string>& ids);

}  // namespace xlm
