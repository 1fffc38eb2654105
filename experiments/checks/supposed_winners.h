// Winners of other sweeps as if those were done: for checks, which have no runs.
#pragma once

#include <vector>

#include "base/files.h"
#include "experiments/configuration/best_of.h"

namespace xlm {

/// Chooses among the supposed runs of the other sweep. Throws UsageError with the place of the map if that sweep cannot
/// be read, has no run that meets the conditions, varies the key in none of them, or reports no such number. `asking`:
/// the files that wait for an answer, to find sweeps that ask each other.
ChooseValue suppose_winners(std::vector<fs::path> asking = {});

}  // namespace xlm
