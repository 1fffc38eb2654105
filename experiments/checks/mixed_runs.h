// Which runs of a store become one number, and in what they differ.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "results/figures/figure_description.h"
#include "results/store/run_table.h"

namespace xlm {

/// Whether a column is the name of the corpus that runs are trained on, or evaluated on.
bool names_corpus(std::string_view column);

/// The keys out of `keys` in whose value rows differ, or in the setting at.KEY that they were evaluated with; those
/// that `expected` names are left out.
std::vector<std::string> differences(RunTable& runs, const std::vector<std::size_t>& rows,
                                     const std::set<std::string>& keys, const std::set<std::string>& expected);

/// The rows that a figure shows, as its description groups them.
class FigureRows {
 public:
  /// What becomes one number, or one curve where x is not a column of runs.
  struct Point {
    std::string name;  // "gumbel, 3"
    std::vector<std::size_t> rows;
  };

  FigureRows(RunTable& runs, const FigureDescription& description, const std::vector<Filter>& filters);

  const std::vector<std::size_t>& rows() const { return rows_; }
  const std::vector<Point>& points() const { return points_; }

  /// Corpora that share a line or a cloud of points; empty where each stands for itself.
  std::vector<std::string> joined_corpora() const;

 private:
  RunTable& runs_;
  const FigureDescription& description_;
  std::vector<std::size_t> rows_;
  std::vector<Point> points_;
};

}  // namespace xlm
