// Runs of a sweep that begin from another of its runs.
#pragma once

#include <optional>

#include "base/yaml.h"

namespace xlm {

/// The configuration of the run that a point begins from, if model.init_from is a map such as {model.recurrence.pool:
/// none}. It is the point's own with the map's values in it, and with random weights unless the map says otherwise.
/// Returns nullopt if model.init_from is a name or unset. Throws UsageError with file:line.
std::optional<Yaml> source_of_point(const Yaml& configuration);

/// The point with the map as text, for callers that do not look for the run.
Yaml with_source_as_text(Yaml configuration);

}  // namespace xlm
