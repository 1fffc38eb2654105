// A figure's numbers, computed from the store; results/figures/gnuplot_script.h draws them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/figures/figure_description.h"
#include "results/store/run_table.h"

namespace xlm {

struct FigurePoint {
  double x = 0;
  double y = 0;
  std::optional<double> spread;   // of y
  std::vector<std::string> runs;  // whose numbers went in
};

struct FigureSeries {
  std::string label;  // empty: the only one
  std::vector<FigurePoint> points;
};

struct Figure {
  FigureDescription description;
  std::string x_label;
  std::string y_label;
  std::string value_label;           // heatmap: of the colours
  std::vector<std::string> x_names;  // where places on x have names: place i is x = i
  std::vector<std::string> y_names;  // heatmap: likewise on y
  std::vector<double> x_ticks;       // where x has few values: all of them; empty: as gnuplot likes
  std::vector<FigureSeries> series;
  std::vector<std::pair<double, double>> front;                  // corners of the Pareto front's staircase
  std::vector<std::vector<double>> grid;                         // heatmap: [y][x], NaN where there is nothing
  std::vector<std::vector<std::vector<std::string>>> grid_runs;  // heatmap: runs behind each cell
  std::string caption;                                           // one line below: what the points and bars are
  std::vector<std::string> notes;                                // what the user should know beside the picture
};

/// All runs whose numbers a figure shows, each once.
std::vector<std::string> runs_of(const Figure& figure);

/// Computes a figure from the runs that fulfil `conditions` and the figure's own. Throws UsageError for a column that
/// the store does not know, and DataError when there is nothing to draw.
Figure build_figure(RunTable& runs, const FigureDescription& description, const std::vector<Filter>& filters);

}  // namespace xlm
