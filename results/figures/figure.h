// A figure's numbers, whatever its kind: what is computed from the store, and drawn by gnuplot or plotly.js.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/figures/figure_description.h"

namespace xlm {

struct FigurePoint {
  double x = 0;
  double y = 0;
  std::optional<double> spread;   // of y
  std::vector<std::string> runs;  // whose numbers went in
  std::string corpus{};           // of a figure with a front: on which it was measured, as corpora_of names it
};

/// The Pareto front of the points of one corpus.
struct FigureFront {
  std::string label;
  std::vector<std::pair<double, double>> corners;  // of its staircase
};

struct FigureSeries {
  std::string label;  // empty: the only one
  std::vector<FigurePoint> points;
  bool joined = false;        // its points are joined by a line
  bool smooth = false;        // a running mean: a line, and a band of the spread, however few its points are
  std::vector<double> marks;  // text: places on x behind which a line stands
};

struct Figure {
  FigureDescription description;
  std::string x_label;
  std::string y_label;
  std::string value_label;           // heatmap: of the colours
  std::vector<std::string> x_names;  // where places on x have names: place i is x = i
  std::vector<std::string> y_names;  // heatmap: likewise on y
  bool from_zero = false;            // y begins at 0, unless it is logarithmic
  std::vector<double> x_ticks;       // where x has few values: all of them; empty: as gnuplot likes
  std::vector<FigureSeries> series;
  std::vector<FigureFront> fronts;                               // one for each corpus, where they are asked for
  std::vector<std::vector<double>> grid;                         // heatmap: [y][x], NaN where there is nothing
  std::vector<std::vector<std::vector<std::string>>> grid_runs;  // heatmap: runs behind each cell
  std::string caption;                                           // one line below: what the points and bars are
  std::vector<std::string> notes;                                // what the user should know beside the picture
  std::vector<std::string> warnings;                             // in what it is not drawn as it was asked for
};

/// All runs whose numbers a figure shows, each once.
std::vector<std::string> runs_of(const Figure& figure);

/// A figure without numbers, its labels made from its columns where the description gives none.
Figure labelled_figure(const FigureDescription& description);

}  // namespace xlm
