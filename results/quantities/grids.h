// What the rows, columns and numbers of the grids that models report are called. A grid that is not known here is
// stored, shown and plotted under its own name all the same.
#pragma once

#include <string>
#include <string_view>

namespace xlm {

struct GridWords {
  std::string name;   // as the model reports it
  std::string title;  // of the part of `xlm runs show`
  std::string row;
  std::string column;
  std::string value;
  bool whole = false;  // its numbers are whole
  std::string about;   // what a picture of single rows must say beside them; empty: nothing
};

/// The words of a grid; for one that is not known "row", "column" and its own name.
GridWords grid_words(std::string_view name);

/// Whether models are known to report a grid of this name.
bool is_known_grid(std::string_view name);

}  // namespace xlm
