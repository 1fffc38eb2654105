// A kind of figure: checks its description, computes its numbers, draws its picture. Each kind is a file NAME_kind.cpp
// in this folder and a line of figure_kinds.def.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "results/figures/figure.h"
#include "results/store/nothing_to_show.h"
#include "results/store/run_table.h"

namespace xlm {

using BuiltFigure = std::variant<Figure, NothingToShow>;

struct FigureKind {
  std::string name;
  bool shows_grids = false;
  bool shows_fronts = false;
  bool shows_values = false;  // a third column next to x and y, as colours
  bool shows_rows = false;    // single rows of a grid
  bool shows_marks = false;   // places that a second trace marks

  /// What is wrong with a description that has no grid: "needs x and y"; empty: nothing.
  std::string (*problem)(const FigureDescription& description) = nullptr;
  /// The numbers of the `selected` runs: at least one. Throws UsageError for a name that the store does not have.
  BuiltFigure (*build)(RunTable& runs, const FigureDescription& description,
                       const std::vector<std::size_t>& selected) = nullptr;
  /// {"name", "data": [trace, …], "layout"} for plotly.js, and for draw.py.
  Json (*plotly)(const Figure& figure) = nullptr;
};

/// All kinds, in the order in which messages name them.
const std::vector<FigureKind>& figure_kinds();

/// The kind in a description; it must exist.
const FigureKind& kind_of(const FigureDescription& description);

/// A result that gives the reason why there is no figure.
NothingToShow no_figure(const FigureDescription& description, const std::string& reason);

}  // namespace xlm
