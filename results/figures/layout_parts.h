// Parts of layouts: lines of text, the rectangles of texts, and layouts within larger ones.
#pragma once

#include <string>
#include <vector>

#include "results/figures/figure_layout.h"

namespace xlm {

/// The rectangle that a text covers.
Box box_of(const PlacedText& text);

/// Adds lines one after the other, like a first text. Each is moved by (right, up) lines from the one before.
void add_lines(FigureLayout& layout, const std::vector<std::string>& lines, PlacedText like, double right, double up);

/// A layout moved to a place in a larger picture.
FigureLayout moved(FigureLayout layout, double right, double up);

}  // namespace xlm
