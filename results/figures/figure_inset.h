// The inset of a figure: a small plot in a corner of the plot that shows a part of it enlarged.
#pragma once

#include <optional>
#include <vector>

#include "results/figures/figure.h"
#include "results/figures/figure_layout.h"

namespace xlm {

/// What the inset of a figure shows: its numbers between the ends of the inset, without texts but those at the ticks.
Figure inset_figure(const Figure& figure);

/// The part of the plot that the inset shows enlarged, as far as it lies between the axes; empty: none of it does.
std::optional<Box> enlarged_part(const Figure& figure, const FigureLayout& layout);

/// Rectangles for the inset in the corners of the plot, or in the one that the description names, the largest first.
std::vector<Box> boxes_of_inset(const Figure& figure, const FigureLayout& layout);

/// The first of them that covers no data, no text and nothing of the part that it shows, or nullopt.
std::optional<Box> free_box_of_inset(const Figure& figure, const FigureLayout& layout);

}  // namespace xlm
