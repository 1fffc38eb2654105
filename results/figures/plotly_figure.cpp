// Figures for plotly.js.
#include "results/figures/plotly_figure.h"

#include "results/figures/kinds/kinds.h"

namespace xlm {

Json plotly_figure(const Figure& figure) { return kind_of(figure.description).plotly(figure); }

}  // namespace xlm
