// How many of the runs that a recipe describes are done.
#pragma once

#include <cstddef>
#include <vector>

#include "base/yaml.h"
#include "results/store/run_table.h"

namespace xlm {

/// Runs that a recipe describes, one or a sweep's, and those of them that are done. None are described by a sweep that
/// is wrong, or of which runs do not say what it asks for: models to begin from, and lengths that become steps.
struct PointsDone {
  std::size_t done = 0;
  std::size_t all = 0;
};

/// `filters` are conditions that the recipe's runs fulfil beside those of its sweep.
PointsDone points_done(const Yaml& recipe, std::vector<Filter> filters, RunTable& runs);

}  // namespace xlm
