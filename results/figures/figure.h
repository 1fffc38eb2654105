// The numbers of a figure of any kind, computed from the store, for plotly.js and matplotlib to draw.
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
  std::vector<std::string> runs;  // behind its numbers
  std::string corpus{};           // of a figure with a front: the corpus of its evaluations, from corpora_of
};

/// The Pareto front of the points of one corpus.
struct FigureFront {
  std::string label;
  std::vector<std::pair<double, double>> corners;  // of the staircase
};

struct FigureSeries {
  std::string label;  // empty: the only one
  std::string value;  // the label before the description renamed it
  std::string plain;  // what it has in the column of series, as text
  std::vector<FigurePoint> points;
  bool joined = false;        // a line joins its points
  bool is_curve = false;      // computed, not measured: a line with a band of the spread, even with few points
  std::vector<double> marks;  // text: places on x with a line after them
  std::size_t look = 0;       // of series_look
  bool is_predicted = false;  // no runs have made its points
};

struct Figure {
  FigureDescription description;
  std::string x_label;
  std::string y_label;
  std::string value_label;           // heatmap: of the colours
  std::vector<std::string> x_names;  // if places on x have names: place i is x = i
  std::vector<std::string> y_names;  // heatmap: the same for y
  bool has_bars = false;             // series are bars, which begin at 0 unless y is logarithmic
  std::vector<double> x_ticks;       // if x has few values: all of them; empty: round numbers
  std::vector<FigureSeries> series;
  std::vector<FigureFront> fronts;                               // one for each corpus, if requested
  std::vector<std::vector<double>> grid;                         // heatmap: [y][x]; NaN means no value
  std::vector<std::vector<std::vector<std::string>>> grid_runs;  // heatmap: the runs of each cell
  std::string caption;                                           // one line below: what points and bars mean
  std::vector<std::string> notes;                                // what the user should know about the picture
  std::vector<std::string> warnings;                             // how it differs from the description
};

/// All runs whose numbers a figure shows, each once.
std::vector<std::string> runs_of(const Figure& figure);

/// A figure without numbers. Labels that the description does not give come from its columns.
Figure labelled_figure(const FigureDescription& description);

}  // namespace xlm
