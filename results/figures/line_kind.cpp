// Points joined by lines. A grid has a line for each of its rows.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "results/figures/figure_series.h"
#include "results/figures/newest_grid.h"
#include "results/figures/plotly_parts.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxRows = 8;  // of a grid, if the description names none

/// The mean column of a row, weighted by its numbers.
double mean_column(const NewestGrid& grid, std::size_t row) {
  double weighted = 0;
  double sum = 0;
  for (std::size_t i = 0; i < grid.columns.size(); ++i) {
    const double number = grid.rows[row][i];
    if (!std::isfinite(number)) continue;
    weighted += number * static_cast<double>(grid.columns[i]);
    sum += number;
  }
  return sum == 0 ? 0 : weighted / sum;
}

/// The shown rows: those in the description, or else all, or else the two of many that differ most.
std::vector<std::size_t> chosen_rows(const FigureDescription& description, const NewestGrid& grid) {
  std::vector<std::size_t> chosen;
  for (const std::int64_t row : description.rows) {
    if (row < 1 || row > static_cast<std::int64_t>(grid.rows.size())) {
      throw UsageError(fmt::format("the figure '{}' asks for row {} of '{}', which has {} rows", description.title, row,
                                   description.grid, grid.rows.size()));
    }
    chosen.push_back(static_cast<std::size_t>(row - 1));
  }
  if (!chosen.empty()) return chosen;
  for (std::size_t row = 0; row < grid.rows.size(); ++row) chosen.push_back(row);
  if (chosen.size() <= kMaxRows) return chosen;
  const auto [first, last] = std::minmax_element(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
    return mean_column(grid, a) < mean_column(grid, b);
  });
  return {*first, *last};
}

Figure lines_of_grid(const FigureDescription& description, const NewestGrid& grid) {
  Figure figure = figure_of_grid(description, grid, grid.words.column, grid.words.value);
  const std::vector<std::size_t> rows = chosen_rows(description, grid);
  for (const std::size_t row : rows) {
    FigureSeries line{.label = fmt::format("{} {}", grid.words.row, row + 1), .points = {}, .joined = true};
    for (std::size_t i = 0; i < grid.columns.size(); ++i) {
      const double number = grid.rows[row][i];
      if (!std::isfinite(number)) continue;
      line.points.push_back({static_cast<double>(grid.columns[i]), number, std::nullopt, {grid.run}});
    }
    figure.series.push_back(std::move(line));
  }
  if (!grid.words.about.empty()) figure.caption += "; " + grid.words.about;
  if (description.rows.empty() && rows.size() < grid.rows.size()) {
    figure.notes.push_back(
        fmt::format("the figure '{}' shows the rows of {} with the smallest and the "
                    "largest mean {}, of {}; choose others with `rows`",
                    description.title, description.grid, grid.words.column, grid.rows.size()));
  }
  return figure;
}

BuiltFigure build_line(RunTable& runs, const FigureDescription& description, const std::vector<std::size_t>& selected) {
  if (description.grid.empty()) return series_figure(runs, description, selected, {.joined = true});
  auto found = newest_grid(runs, description, selected);
  if (auto* nothing = std::get_if<NothingToShow>(&found)) return *nothing;
  return lines_of_grid(description, std::get<NewestGrid>(found));
}

}  // namespace

FigureKind line_kind() {
  return {.name = "line",
          .shows_grids = true,
          .shows_fronts = true,
          .shows_rows = true,
          .problem = problem_of_columns,
          .build = build_line,
          .plotly = series_plot};
}

}  // namespace xlm
