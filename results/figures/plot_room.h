// Where a plot has room for texts: what data lie in a rectangle of it.
#pragma once

#include "results/figures/figure.h"
#include "results/figures/figure_layout.h"

namespace xlm {

/// Where a point of the data is in the picture.
struct Spot {
  double x = 0;
  double y = 0;
};
Spot spot_of(const Figure& figure, const FigureLayout& layout, double x, double y);

/// How many places on points, lines, bars and bands lie in a rectangle.
int data_in(const Figure& figure, const FigureLayout& layout, const Box& box);

}  // namespace xlm
