// Whether the values that a sweep's conditions ask for are ever taken.
#pragma once

#include "base/yaml.h"

namespace xlm {

/// Whether a key has one value in both. Paths are absolute in a run's configuration, and given as they are seen from
/// here.
bool is_same_value(const Yaml& a, const Yaml& b);

/// Throws UsageError with file:line for a value in `sweep.exclude`, `sweep.when` or `where` of `evaluate` that its key
/// never takes: a slip that would silently leave out nothing, or everything. `file` is the whole file with its
/// profiles, `tree` what is made of it by a profile and the command line: what a profile takes away from a list may
/// still stand in a condition. A key that is not swept may be given any value on the command line; of it only those
/// that no model takes are refused.
void check_condition_values(const Yaml& file, const Yaml& tree);

}  // namespace xlm
