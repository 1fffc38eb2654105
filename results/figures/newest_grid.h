// The grid that a figure shows: that of the newest of its runs.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "results/figures/figure_kind.h"
#include "results/quantities/grids.h"
#include "results/store/run_table.h"

namespace xlm {

struct NewestGrid {
  GridWords words;
  std::string run;
  std::vector<std::vector<double>> rows;  // of the same length; NaN where there is no number
  std::vector<std::int64_t> columns;      // what the columns stand for: 1, 2, … unless the model says otherwise
  std::vector<std::string> notes;         // what the user should know
};

/// The newest of the description's grid. Throws UsageError for one that neither a run of the store has nor models are
/// known to report.
std::variant<NewestGrid, NothingToShow> newest_grid(RunTable& runs, const FigureDescription& description,
                                                    const std::vector<std::size_t>& selected);

/// A figure of a grid, yet without its numbers; labels that the description does not give are `x` and `y`.
Figure figure_of_grid(const FigureDescription& description, const NewestGrid& grid, const std::string& x,
                      const std::string& y);

/// "1", "2", …
std::vector<std::string> counted_names(std::size_t count);

}  // namespace xlm
