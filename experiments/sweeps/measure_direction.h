// Which way the measure of a sweep is better, before any run has a number.
#pragma once

#include <optional>
#include <string>

#include "base/yaml.h"
#include "results/quantities/quantities.h"

namespace xlm {

/// Which way a quantity is better, by its name: as the table of quantities says, or `program.better` of a
/// configuration. Nothing if neither does. Throws UsageError with file:line for a declaration that is wrong.
std::optional<Better> direction_in(const Yaml& configuration, const std::string& name);

}  // namespace xlm
