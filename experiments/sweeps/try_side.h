// The two sides of a try: a change, and what it is tried against.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// The configuration of a run, to be run with other seeds: a program starts from the frozen copy that the run started
/// from, whatever its folder holds now. Throws DataError if the copy is gone or damaged.
Yaml configuration_of_run(const fs::path& run_folder, const std::vector<std::string>& overrides);

/// The runs of a configuration with these seeds, in their order.
std::vector<SweepRun> runs_with_seeds(const Recipe& recipe, const std::vector<std::int64_t>& seeds,
                                      const fs::path& runs, const ChooseValue& choose);

/// What a change is: keys whose values differ, "code (train.py)", "data". Empty if nothing differs. Throws UsageError
/// if besides other keys it changes what makes numbers comparable: data, device, threads, processes.
std::vector<std::string> what_changes(const PlannedRun& change, const PlannedRun& base);

}  // namespace xlm
