// Where a plot has room for texts: what data lie in a rectangle of it.
#pragma once

#include <optional>
#include <vector>

#include "results/figures/figure.h"
#include "results/figures/figure_layout.h"

namespace xlm {

/// Where a point of the data is in the picture.
struct Spot {
  double x = 0;
  double y = 0;
};
Spot spot_of(const Figure& figure, const FigureLayout& layout, double x, double y);

/// Room next to the first and the last named place on x, in distances between places.
double margin_of_names(const Figure& figure);

inline constexpr double kBarsWidth = 0.8;  // of all bars of a place, of the room between two places

/// The left and the right end of a bar on x.
struct BarEnds {
  double left = 0;
  double right = 0;
};
BarEnds ends_of_bar(const Figure& figure, std::size_t series, double x);

/// Whether two rectangles have a part in common.
bool boxes_touch(const Box& a, const Box& b);

/// The share of a number along an axis, from 0 to 1.
double share_of(const Axis& axis, double value);

/// How many places on points, lines, bars and bands lie in a rectangle.
int data_in(const Figure& figure, const FigureLayout& layout, const Box& box);

/// The first of these rectangles without data, or nullopt.
std::optional<Box> empty_box(const Figure& figure, const FigureLayout& layout, const std::vector<Box>& boxes);

/// The rectangle with the least data among those that touch no text or sample of the legend, or nullopt.
std::optional<Box> box_for_text(const Figure& figure, const FigureLayout& layout, const std::vector<Box>& boxes);

}  // namespace xlm
