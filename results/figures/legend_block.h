// The legend of a figure: its entries in rows and columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/figures/figure.h"

namespace xlm {

/// What a sample in the legend shows.
struct LegendEntry {
  std::string label;
  bool is_front = false;
  std::size_t index = 0;  // of the front or the series
};

/// All entries in their order: fronts, then series. A label stands once.
std::vector<LegendEntry> legend_entries(const Figure& figure);

/// Entries below each other in columns, in points. Long labels have several lines.
struct LegendBlock {
  struct Cell {
    LegendEntry entry;
    std::vector<std::string> lines;
    double x = 0;  // of the sample, from the left end of the block
    double y = 0;  // of the middle of the first line, from the top of the block
  };
  std::vector<std::string> title;  // its lines
  std::vector<Cell> cells;
  double width = 0;
  double height = 0;
  double sample = 0;  // width of a sample
  double gap = 0;     // between a sample and its label
  double line = 0;    // height of a line
};

/// The legend within a width, in `most` columns or the fewer that have room.
LegendBlock legend_block(const Figure& figure, double width, double size, std::size_t most);

}  // namespace xlm
