// Numbers that follow from a configuration without training: its own options, and what its model costs.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "core/api/interface.h"
#include "experiments/sweeps/recipe.h"

namespace xlm {

/// What a model costs for a vocabulary of `symbols` (Core::costs).
using ModelCosts = std::function<NamedValues(const RunOptions& options, std::int64_t symbols)>;

/// Numeric options by key ("model.width") and costs ("params") of a recipe's configuration with `settings` (dotted
/// keys) laid over it; its sweep plays no part. Costs are asked for only where `columns` names something else than an
/// option. Throws UsageError for settings that are no valid run, and where nothing says how many symbols the data have.
std::map<std::string, double> configured_numbers(const Recipe& recipe, const Yaml& settings,
                                                 const std::set<std::string>& columns, const ModelCosts& costs);

}  // namespace xlm
