// What is tried, in which order, to lay a figure out: the place of its legend and the columns of its panels.
#pragma once

#include <cstddef>
#include <vector>

#include "results/figures/figure.h"

namespace xlm {

/// A place of the legend, and whether its labels may break into lines there.
struct LegendTry {
  LegendKeys::Place place = LegendKeys::Place::kNone;
  bool may_break = true;
};

/// What one try to lay a figure out is made with.
struct LayoutTry {
  double size = 0;  // of text
  LegendTry legend;
  std::size_t columns = 0;  // of panels
  bool is_panel = false;    // of a picture with several
};

/// Places of the legend in the order in which they are tried.
std::vector<LegendTry> legends_to_try(const Figure& figure);

/// Numbers of columns of panels in the order in which they are tried; a single 0 if there are no panels.
std::vector<std::size_t> columns_to_try(const Figure& figure);

}  // namespace xlm
