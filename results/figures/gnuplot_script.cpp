// Figures as gnuplot scripts.
#include "results/figures/gnuplot_script.h"

#include "results/figures/kinds/kinds.h"

namespace xlm {

std::string gnuplot_script(const Figure& figure, PictureFormat format) {
  return kind_of(figure.description).gnuplot(figure, format);
}

}  // namespace xlm
