// Finds runs of a store that become one number of a figure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/figures/figure_description.h"
#include "results/store/run_table.h"

namespace xlm {

/// Whether a column names the corpus that runs are trained on or evaluated on.
bool names_corpus(std::string_view column);

/// The rows that a figure shows, in the groups of its description.
class FigureRows {
 public:
  /// The rows of one number, or of one curve if x is no column of runs.
  struct Point {
    std::string name;  // "gumbel, 3"
    std::vector<std::size_t> rows;
  };

  FigureRows(RunTable& runs, const FigureDescription& description, const std::vector<Filter>& filters);

  const std::vector<Point>& points() const { return points_; }

  /// Corpora that share a line or a cloud of points. Empty if each has its own.
  std::vector<std::string> joined_corpora() const;

 private:
  RunTable& runs_;
  const FigureDescription& description_;
  std::vector<std::size_t> rows_;
  std::vector<Point> points_;
};

}  // namespace xlm
