// Points. A grid has a point for every number, and a line along the means of its rows.
#include <cmath>

#include "results/figures/figure_series.h"
#include "results/figures/newest_grid.h"
#include "results/figures/plotly_parts.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

/// The numbers of each row side by side, so that equal ones are visible.
std::vector<FigureSeries> series_of_grid(const NewestGrid& grid) {
  FigureSeries numbers{.label = "one " + grid.words.column, .points = {}};
  FigureSeries means{.label = "mean of the " + grid.words.row, .points = {}, .joined = true};
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    const auto place = static_cast<double>(row);
    const auto width = static_cast<double>(grid.rows[row].size());
    std::vector<double> finite;
    for (std::size_t column = 0; column < grid.rows[row].size(); ++column) {
      const double number = grid.rows[row][column];
      if (!std::isfinite(number)) continue;
      const double offset = (static_cast<double>(column) - (width - 1) / 2) / width;
      numbers.points.push_back({place + 0.6 * offset, number, std::nullopt, {grid.run}});
      finite.push_back(number);
    }
    if (!finite.empty()) means.points.push_back({place, mean(finite), std::nullopt, {grid.run}});
  }
  return {numbers, means};
}

BuiltFigure build_scatter(RunTable& runs, const FigureDescription& description,
                          const std::vector<std::size_t>& selected) {
  if (description.grid.empty()) return series_figure(runs, description, selected, {});
  auto found = newest_grid(runs, description, selected);
  if (auto* nothing = std::get_if<NothingToShow>(&found)) return *nothing;
  const auto& grid = std::get<NewestGrid>(found);
  Figure figure = figure_of_grid(description, grid, grid.words.row, grid.words.value);
  figure.x_names = counted_names(grid.rows.size());
  figure.series = series_of_grid(grid);
  return figure;
}

}  // namespace

FigureKind scatter_kind() {
  return {.name = "scatter",
          .shows_grids = true,
          .shows_fronts = true,
          .problem = problem_of_columns,
          .build = build_scatter,
          .plotly = series_plot};
}

}  // namespace xlm
