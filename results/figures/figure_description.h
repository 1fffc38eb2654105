// A figure's description, read from a YAML file.
#pragma once

#include <string>
#include <vector>

#include "base/yaml.h"
#include "results/figures/elements/figure_description.h"

namespace xlm {

/// All keys that a figure's map may have.
const std::vector<std::string>& figure_keys();

/// Reads one description (see find_exhibits). Throws UsageError with file:line.
FigureDescription read_figure_description(const Yaml& description);

}  // namespace xlm
