// The runs of a recipe's profile `paper`, with which tables compare the configurations of others.
#pragma once

#include <memory>

#include "base/yaml.h"
#include "results/tables/paper_runs.h"

namespace xlm {

/// The sweep of `tree`, the configuration of the profile, as tables know it. Throws UsageError with file:line for
/// points that are no valid runs.
std::shared_ptr<PaperRuns> supposed_paper_runs(const Yaml& tree);

}  // namespace xlm
