// Figures, computed from the store and drawn: by gnuplot, and by plotly.js in the browser, with the same looks.
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

/// The rows that a figure is about: those that fulfil `filters` and the figure's own conditions.
std::vector<std::size_t> rows_of_figure(RunTable& runs, const FigureDescription& description,
                                        const std::vector<Filter>& filters);

/// Computes a figure from the runs that fulfil `filters` and the figure's own conditions. Throws UsageError for a
/// column or a grid that the store does not know.
std::variant<Figure, NothingToShow> build_figure(RunTable& runs, const FigureDescription& description,
                                                 const std::vector<Filter>& filters);

/// A complete script with its data inside; the picture goes to standard output.
std::string gnuplot_script(const Figure& figure, PictureFormat format);

/// {"name", "data": [trace, …], "layout"}. Every point says what it is when hovered over (hovertext, as plotly's own
/// few tags), and has the ids of its runs in customdata. The title is not in it: it stands above the picture.
Json plotly_figure(const Figure& figure);

}  // namespace xlm
