// Figures for plotly.js, which draws them in the browser with the looks of results/figures/elements/plot_style.h.
#pragma once

#include "base/json.h"
#include "results/figures/elements/figure.h"

namespace xlm {

/// {"name", "data": [trace, …], "layout"}. Every point says what it is when hovered over (hovertext, as plotly's own
/// few tags), and has the ids of its runs in customdata. The title is not in it: it stands above the picture.
Json plotly_figure(const Figure& figure);

}  // namespace xlm
