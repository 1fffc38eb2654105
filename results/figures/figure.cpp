// Figures, computed from the store.
#include "results/figures/figure.h"

#include "results/figures/kinds/kinds.h"

namespace xlm {

std::vector<std::size_t> rows_of_figure(RunTable& runs, const FigureDescription& description,
                                        const std::vector<Filter>& filters) {
  std::vector<Filter> all = filters;
  all.insert(all.end(), description.where.begin(), description.where.end());
  return runs.select(all, {description.x, description.y, description.value, description.series});
}

std::variant<Figure, NothingToShow> build_figure(RunTable& runs, const FigureDescription& description,
                                                 const std::vector<Filter>& filters) {
  const std::vector<std::size_t> selected = rows_of_figure(runs, description, filters);
  if (selected.empty()) return no_figure(description, "no run fulfils its conditions");
  return kind_of(description).build(runs, description, selected);
}

}  // namespace xlm
