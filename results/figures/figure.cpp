// The numbers of a figure of any kind.
#include "results/figures/figure.h"

#include <set>

#include "results/quantities/quantities.h"

namespace xlm {

std::vector<std::string> runs_of(const Figure& figure) {
  std::set<std::string> runs;
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) runs.insert(point.runs.begin(), point.runs.end());
  }
  for (const auto& row : figure.grid_runs) {
    for (const std::vector<std::string>& cell : row) runs.insert(cell.begin(), cell.end());
  }
  return {runs.begin(), runs.end()};
}

Figure labelled_figure(const FigureDescription& description) {
  Figure figure;
  figure.description = description;
  figure.x_label = description.x_label.empty() ? column_label(description.x) : description.x_label;
  figure.y_label = description.y_label.empty() ? column_label(description.y) : description.y_label;
  figure.value_label = column_label(description.value);
  return figure;
}

}  // namespace xlm
