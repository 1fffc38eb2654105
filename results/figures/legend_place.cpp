// Where a legend stands.
#include "results/figures/legend_place.h"

#include <vector>

#include "results/figures/layout_parts.h"
#include "results/figures/plot_room.h"

namespace xlm {

std::optional<Box> corner_of_legend(const Figure& figure, const FigureLayout& layout, const LegendBlock& legend,
                                    LegendKeys::Place place) {
  using Place = LegendKeys::Place;
  const Box& plot = layout.plot;
  const double gap = 0.6 * layout.text_size;
  std::vector<Box> corners;
  for (const bool top : {true, false}) {
    for (const bool right : {true, false}) {
      const double left = right ? plot.right - gap - legend.width : plot.left + gap;
      const double bottom = top ? plot.top - gap - legend.height : plot.bottom + gap;
      corners.push_back({left, left + legend.width, bottom, bottom + legend.height});
    }
  }
  switch (place) {
    case Place::kTopRight:
      return corners[0];
    case Place::kTopLeft:
      return corners[1];
    case Place::kBottomRight:
      return corners[2];
    case Place::kBottomLeft:
      return corners[3];
    default:
      return empty_box(figure, layout, corners);
  }
}

void draw_legend(const LegendBlock& legend, double left, double top, FigureLayout& layout) {
  const PlacedText text{.size = layout.text_size, .anchor = PlacedText::Anchor::kLeft};
  const auto at = [&](double x, double y) {
    PlacedText placed = text;
    placed.x = x;
    placed.y = y;
    return placed;
  };
  add_lines(layout, legend.title, at(left, top - legend.line / 2), 0, -1);
  for (const LegendBlock::Cell& cell : legend.cells) {
    const double x = left + cell.x;
    const double y = top - cell.y;
    layout.samples.push_back({cell.entry, x, y, legend.sample});
    add_lines(layout, cell.lines, at(x + legend.sample + legend.gap, y), 0, -1);
  }
}

}  // namespace xlm
