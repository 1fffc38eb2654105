// Words for the rows, columns and numbers of the grids that models report. An unknown grid is stored, shown and plotted
// under its own name.
#pragma once

#include <string>
#include <string_view>

namespace xlm {

struct GridWords {
  std::string name;   // as the model reports it
  std::string title;  // of its part in `xlm runs show`
  std::string row;
  std::string column;
  std::string value;
  bool whole = false;  // its numbers are integers
  std::string about;   // a line that a picture of single rows needs; empty: none
};

/// The words of a grid. For an unknown grid: "row", "column" and its name.
GridWords grid_words(std::string_view name);

bool is_known_grid(std::string_view name);

}  // namespace xlm
