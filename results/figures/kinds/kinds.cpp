// All kinds of figures.
#include "results/figures/kinds/kinds.h"

#include <algorithm>

namespace xlm {

#define XLM_FIGURE_KIND(name) FigureKind name##_kind();
#include "results/figures/kinds/kinds.inc"
#undef XLM_FIGURE_KIND

const std::vector<FigureKind>& figure_kinds() {
  static const std::vector<FigureKind> kinds{
#define XLM_FIGURE_KIND(name) name##_kind(),
#include "results/figures/kinds/kinds.inc"
#undef XLM_FIGURE_KIND
  };
  return kinds;
}

const FigureKind& kind_of(const FigureDescription& description) {
  const auto& kinds = figure_kinds();
  return *std::find_if(kinds.begin(), kinds.end(),
                       [&](const FigureKind& kind) { return kind.name == description.kind; });
}

}  // namespace xlm
