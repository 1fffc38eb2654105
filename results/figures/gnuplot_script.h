// Figures as gnuplot scripts, with the looks that all of them share.
#pragma once

#include <string>

#include "results/figures/elements/figure_kind.h"

namespace xlm {

/// A complete script with its data inside; the picture goes to standard output.
std::string gnuplot_script(const Figure& figure, PictureFormat format);

}  // namespace xlm
