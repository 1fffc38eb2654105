// Where a legend stands, and its parts there.
#pragma once

#include <optional>

#include "results/figures/figure.h"
#include "results/figures/figure_layout.h"
#include "results/figures/legend_block.h"

namespace xlm {

/// The rectangle of a legend inside the plot: the corner that `place` names, or one without data; nullopt if it asks
/// for the latter and each has some.
std::optional<Box> corner_of_legend(const Figure& figure, const FigureLayout& layout, const LegendBlock& legend,
                                    LegendKeys::Place place);

/// Adds the texts and samples of a legend whose upper left corner is there.
void draw_legend(const LegendBlock& legend, double left, double top, FigureLayout& layout);

}  // namespace xlm
