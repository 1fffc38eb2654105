// All kinds of figures.
#include "results/figures/figure_kind.h"

#include <algorithm>

#include <fmt/format.h>

namespace xlm {

#define XLM_FIGURE_KIND(name) FigureKind name##_kind();
#include "results/figures/figure_kinds.def"
#undef XLM_FIGURE_KIND

const std::vector<FigureKind>& figure_kinds() {
  static const std::vector<FigureKind> kinds{
#define XLM_FIGURE_KIND(name) name##_kind(),
#include "results/figures/figure_kinds.def"
#undef XLM_FIGURE_KIND
  };
  return kinds;
}

const FigureKind& kind_of(const FigureDescription& description) {
  const auto& kinds = figure_kinds();
  return *std::ranges::find_if(kinds, [&](const FigureKind& kind) { return kind.name == description.kind; });
}

NothingToShow no_figure(const FigureDescription& description, const std::string& reason) {
  return {description.title, reason,
          fmt::format("the figure '{}' has nothing to show: {}\n"
                      "to list the runs: xlm runs ls; to make them: xlm sweep",
                      description.title, reason)};
}

}  // namespace xlm
