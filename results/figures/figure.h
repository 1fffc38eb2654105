// Figures, computed from the store; results/figures/gnuplot_script.h and plotly_figure.h draw them.
#pragma once

#include <variant>
#include <vector>

#include "results/figures/elements/figure.h"
#include "results/store/nothing_to_show.h"
#include "results/store/run_table.h"

namespace xlm {

/// The rows that a figure is about: those that fulfil `filters` and the figure's own conditions.
std::vector<std::size_t> rows_of_figure(RunTable& runs, const FigureDescription& description,
                                        const std::vector<Filter>& filters);

/// Computes a figure from the runs that fulfil `filters` and the figure's own conditions. Throws UsageError for a
/// column or a grid that the store does not know.
std::variant<Figure, NothingToShow> build_figure(RunTable& runs, const FigureDescription& description,
                                                 const std::vector<Filter>& filters);

}  // namespace xlm
