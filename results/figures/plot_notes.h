// Reference lines that a description adds to a plot, and their labels.
#pragma once

#include <string>

#include "results/figures/figure.h"
#include "results/figures/figure_layout.h"

namespace xlm {

/// Adds reference lines to a layout.
void place_references(const Figure& figure, FigureLayout& layout);

/// Adds the labels of these lines to a layout whose other texts are there. A label stands where it touches no other
/// text and covers the least data. Returns what has no room; empty: all has.
std::string place_notes(const Figure& figure, FigureLayout& layout);

}  // namespace xlm
