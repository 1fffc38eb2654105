// Checks that keys can have the values that a sweep's conditions ask for.
#pragma once

#include "base/yaml.h"

namespace xlm {

/// Whether two values of a key mean the same. Paths are absolute in a run's configuration, but may be relative in
/// conditions and on the command line, where ./data/text8 is data/text8.
bool is_same_value(const Yaml& a, const Yaml& b);

/// Throws UsageError with file:line for a value in `sweep.exclude`, `sweep.when` or `where` of `evaluate` that its key
/// never has. Such a mistake would leave out nothing, or everything, without a message. `file` is the whole file with
/// its profiles; `tree` is what a profile and the command line make of it. A condition may name a value that the
/// profile has removed from a list. A key that is not swept can get any value on the command line; only values that no
/// model takes are refused.
void check_condition_values(const Yaml& file, const Yaml& tree);

}  // namespace xlm
