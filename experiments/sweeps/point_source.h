// Runs of a sweep that begin from another of its runs.
#pragma once

#include <optional>

#include "base/yaml.h"

namespace xlm {

/// The configuration of the run that a point begins from, where its model.init_from is a map such as
/// {model.recurrence.pool: none}: the point's own, with these values laid over it and, unless they say otherwise,
/// random weights. Nothing where model.init_from is a name, or nothing. Throws UsageError with file:line.
std::optional<Yaml> source_of_point(const Yaml& configuration);

/// The point with the map's text in place of the map, for whoever does not look for the run.
Yaml with_source_as_text(Yaml configuration);

}  // namespace xlm
