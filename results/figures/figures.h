// Computes figures from the store. plotly.js draws them on pages, and matplotlib on paper (picture.h).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "results/figures/figure.h"
#include "results/figures/figure_kind.h"
#include "results/store/nothing_to_show.h"
#include "results/store/run_table.h"

namespace xlm {

/// The rows of a figure: those that fulfil `filters` and the figure's conditions.
std::vector<std::size_t> rows_of_figure(RunTable& runs, const FigureDescription& description,
                                        const std::vector<Filter>& filters);

/// Computes a figure from the runs that fulfil `filters` and the figure's conditions. Throws UsageError for a column or
/// grid that the store does not have.
std::variant<Figure, NothingToShow> build_figure(RunTable& runs, const FigureDescription& description,
                                                 const std::vector<Filter>& filters);

/// {"name", "data": [trace, …], "layout"}. Each point has a description on hover (hovertext, with plotly's tags) and
/// its runs' ids in customdata. The title is not included: the page shows it.
Json plotly_figure(const Figure& figure);

}  // namespace xlm
