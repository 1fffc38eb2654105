// How many of the runs that a recipe describes are done.
#pragma once

#include <cstddef>
#include <vector>

#include "base/yaml.h"
#include "results/store/run_table.h"

namespace xlm {

/// The runs that a recipe describes, and those of them that are done. Both are 0 if the sweep is invalid, or if runs do
/// not record what it sets: models to start from, and lengths that become steps.
struct PointsDone {
  std::size_t done = 0;
  std::size_t all = 0;
};

/// `filters` are further conditions on the recipe's runs.
PointsDone points_done(const Yaml& recipe, std::vector<Filter> filters, RunTable& runs);

}  // namespace xlm
