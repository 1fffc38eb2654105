// The texts at the ticks of a picture. The program places them: gnuplot's distances differ from format to format.
#pragma once

#include "results/figures/figure.h"
#include "results/figures/figure_layout.h"

namespace xlm {

/// Between an axis and its ticks' texts, of their size.
inline constexpr double kTickGapAtSide = 0.8;
inline constexpr double kTickGapBelow = 0.6;

/// Adds the texts at the ticks of x, y and the bar of colours, and the names of places, to a layout with its plot.
void place_axis_texts(const Figure& figure, FigureLayout& layout);

}  // namespace xlm
