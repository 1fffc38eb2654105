// The words for grids.
#include "results/quantities/grids.h"

#include <algorithm>
#include <vector>

namespace xlm {
namespace {

const std::vector<GridWords>& known_grids() {
  constexpr const char* kHeads = "heads are counted layer by layer";
  static const std::vector<GridWords> rows{
      {.name = "spans", .title = "Spans per head", .row = "layer", .column = "head", .value = "span", .whole = true},
      {.name = "attention",
       .title = "Attention by head and distance",
       .row = "head",
       .column = "distance",
       .value = "attention weight",
       .about = kHeads},
      {.name = "mask",
       .title = "Soft mask by head and distance",
       .row = "head",
       .column = "distance",
       .value = "soft mask",
       .about = kHeads},
  };
  return rows;
}

const GridWords* find_grid(std::string_view name) {
  const auto& rows = known_grids();
  const auto found = std::ranges::find_if(rows, [&](const GridWords& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

GridWords grid_words(std::string_view name) {
  if (const GridWords* known = find_grid(name)) return *known;
  std::string value(name);
  std::ranges::replace(value, '_', ' ');
  return {.name = std::string(name), .title = "Grid: " + value, .row = "row", .column = "column", .value = value};
}

bool is_known_grid(std::string_view name) { return find_grid(name) != nullptr; }

}  // namespace xlm
