// `require` of a recipe: what it leaves to its user and cannot do without.
#pragma once

#include "base/yaml.h"
#include "experiments/configuration/configuration.h"

namespace xlm {

/// `required` is null or a list. A key, such as model.pretrained, must have a value; a map, such as
/// {hebrew_points: space}, says how data must have been prepared where there was that choice (docs/sweeps.md).
/// Throws UsageError for a key without a value and for what is no requirement, DataError for data prepared otherwise.
void check_requirements(const Yaml& required, const RunConfiguration& options);

}  // namespace xlm
