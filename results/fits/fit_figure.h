// The figure of a fit: the runs, the fitted law with its band, and what it predicts.
#pragma once

#include "results/figures/figure.h"
#include "results/fits/fitted_runs.h"

namespace xlm {

/// Loss against C, against D with a curve for each of a few sizes, or against N with a parabola for each budget. Both
/// axes are logarithmic. A figure like that of `kind: line`, so it is drawn and put on pages as any other.
Figure figure_of_fit(const FitResult& fit);

}  // namespace xlm
