// All kinds of figures: a file of this folder and a line of kinds.inc each.
#pragma once

#include <vector>

#include "results/figures/elements/figure_kind.h"

namespace xlm {

/// In the order in which messages name them.
const std::vector<FigureKind>& figure_kinds();

/// The kind that a description names; it must be one of them.
const FigureKind& kind_of(const FigureDescription& description);

}  // namespace xlm
