// Small multiples: a figure of the same kind for each value of a column, with the same axes and looks.
#pragma once

#include <vector>

#include "results/figures/figure.h"
#include "results/store/run_table.h"

namespace xlm {

/// Adds a panel to a figure of all `selected` runs for each value of its facet's column. Panels have the whole figure's
/// places, ranges, order and looks. The figure's caption then says what the points of the panels are. Notes name the
/// values without numbers.
void add_panels(RunTable& runs, const std::vector<std::size_t>& selected, Figure& whole);

}  // namespace xlm
