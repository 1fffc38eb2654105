// `require` of a recipe: what it leaves to its user and cannot do without.
#pragma once

#include "base/yaml.h"
#include "experiments/configuration/configuration.h"

namespace xlm {

/// `required` is null or a list. A key, such as model.pretrained, must have a value, and the folder that this one names
/// must hold weights. A map, such as {hebrew_points: space}, says how data must have been prepared if there was that
/// choice (docs/sweeps.md). Throws UsageError for a key without a value and for what is no requirement, DataError for
/// data prepared otherwise and for a folder without weights.
void check_requirements(const Yaml& required, const RunConfiguration& options);

}  // namespace xlm
