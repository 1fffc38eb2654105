// The runs of a recipe's profile `paper`, with which tables compare the configurations of others.
#pragma once

#include <memory>

#include "experiments/sweeps/recipe.h"
#include "results/tables/paper_runs.h"

namespace xlm {

/// The sweep of the recipe, as its profile makes it, as tables know it. Throws UsageError with file:line for
/// points that are no valid runs.
std::shared_ptr<PaperRuns> supposed_paper_runs(const Recipe& recipe);

}  // namespace xlm
