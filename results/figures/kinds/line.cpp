// Points that are joined by lines.
#include "results/figures/elements/figure_series.h"
#include "results/figures/elements/gnuplot_parts.h"
#include "results/figures/elements/plotly_parts.h"

namespace xlm {
namespace {

BuiltFigure build_line(RunTable& runs, const FigureDescription& description, const std::vector<std::size_t>& selected) {
  return series_figure(runs, description, selected, {.joined = true});
}

}  // namespace

FigureKind line_kind() {
  return {.name = "line",
          .shows_fronts = true,
          .problem = problem_of_columns,
          .build = build_line,
          .gnuplot = series_script,
          .plotly = series_plot};
}

}  // namespace xlm
