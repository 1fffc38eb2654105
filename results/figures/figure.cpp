// Figures, computed from the store.
#include "results/figures/figure.h"

#include "results/figures/kinds/kinds.h"

namespace xlm {

std::variant<Figure, NothingToShow> build_figure(RunTable& runs, const FigureDescription& description,
                                                 const std::vector<Filter>& filters) {
  std::vector<std::size_t> selected = runs.select(filters);
  selected = runs.select(selected, description.where);
  if (selected.empty()) return no_figure(description, "no run fulfils its conditions");
  return kind_of(description).build(runs, description, selected);
}

}  // namespace xlm
