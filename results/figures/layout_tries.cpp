// What is tried to lay a figure out.
#include "results/figures/layout_tries.h"

#include <algorithm>
#include <cmath>

#include "results/figures/plot_style.h"

namespace xlm {

std::vector<LegendTry> legends_to_try(const Figure& figure) {
  using Place = LegendKeys::Place;
  const Place place = figure.description.looks.legend.place;
  if (!has_legend(figure)) return {{Place::kNone}};
  if (place == Place::kInside) return {{Place::kInside}, {Place::kBelow}};
  if (place != Place::kAuto) return {{place}};
  if (!figure.panels.empty()) return {{Place::kBelow}};
  return {{Place::kRight, false}, {Place::kBelow}, {Place::kRight}};
}

std::vector<std::size_t> columns_to_try(const Figure& figure) {
  const std::size_t count = figure.panels.size();
  if (count == 0) return {0};
  const auto own = static_cast<std::size_t>(figure.description.looks.facet.columns);
  const auto square = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  std::vector<std::size_t> columns;
  for (std::size_t most = own > 0 ? std::min(own, count) : count <= 3 ? count : square; most > 0; --most)
    columns.push_back(most);
  return columns;
}

}  // namespace xlm
