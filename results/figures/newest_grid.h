// Finds the grid that a figure shows: that of the newest of its runs.
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
  std::vector<std::vector<double>> rows;  // of equal length; NaN means no number
  std::vector<std::int64_t> columns;      // meaning of the columns: 1, 2, … unless the model gives others
  std::vector<std::string> notes;         // for the user
};

/// The newest run's grid for the description. Throws UsageError for a grid that neither a run of the store nor any
/// model reports.
std::variant<NewestGrid, NothingToShow> newest_grid(RunTable& runs, const FigureDescription& description,
                                                    const std::vector<std::size_t>& selected);

/// A figure of a grid, still without its numbers. `x` and `y` are labels that the description does not give.
Figure figure_of_grid(const FigureDescription& description, const NewestGrid& grid, const std::string& x,
                      const std::string& y);

/// "1", "2", …
std::vector<std::string> counted_names(std::size_t count);

}  // namespace xlm
