// The inset of a figure.
#include "results/figures/figure_inset.h"

#include <algorithm>
#include <array>

#include "results/figures/plot_room.h"

namespace xlm {
namespace {

constexpr std::array<double, 4> kInsetShares{0.52, 0.47, 0.42, 0.37};  // of the plot's width and height
constexpr double kInsetGap = 0.6;                                      // from the axes, of the size of texts

}  // namespace

Figure inset_figure(const Figure& figure) {
  const InsetKeys& keys = *figure.description.looks.inset;
  Figure inset = figure;
  inset.x_label.clear();
  inset.y_label.clear();
  inset.description.x_range = {keys.x[0], keys.x[1]};
  inset.description.y_range = {keys.y[0], keys.y[1]};
  const auto is_shown = [&](double x) { return x >= keys.x[0] && x <= keys.x[1]; };
  std::erase_if(inset.x_ticks, [&](double tick) { return !is_shown(tick); });
  if (inset.x_ticks.size() < 2) inset.x_ticks.clear();
  FigureLooks& looks = inset.description.looks;
  looks.inset.reset();
  looks.annotations.clear();
  std::erase_if(looks.references, [&](const ReferenceLine& line) {
    return line.x ? !is_shown(*line.x) : *line.y < keys.y[0] || *line.y > keys.y[1];
  });
  for (ReferenceLine& line : looks.references) line.label.clear();
  looks.show_title = false;
  looks.show_caption = false;
  looks.minor_ticks = false;
  looks.legend.place = LegendKeys::Place::kNone;
  return inset;
}

std::optional<Box> enlarged_part(const Figure& figure, const FigureLayout& layout) {
  const InsetKeys& keys = *figure.description.looks.inset;
  const Spot low = spot_of(figure, layout, keys.x[0], keys.y[0]);
  const Spot high = spot_of(figure, layout, keys.x[1], keys.y[1]);
  const Box& plot = layout.plot;
  const Box part{std::max(low.x, plot.left), std::min(high.x, plot.right), std::max(low.y, plot.bottom),
                 std::min(high.y, plot.top)};
  return part.width() > 0 && part.height() > 0 ? std::optional(part) : std::nullopt;
}

std::vector<Box> boxes_of_inset(const Figure& figure, const FigureLayout& layout) {
  using Place = InsetKeys::Place;
  const Place asked = figure.description.looks.inset->place;
  const Box& plot = layout.plot;
  const double gap = kInsetGap * layout.text_size;
  std::vector<Box> boxes;
  for (const double share : kInsetShares) {
    const double width = share * plot.width();
    const double height = share * plot.height();
    for (const Place place : {Place::kTopRight, Place::kTopLeft, Place::kBottomRight, Place::kBottomLeft}) {
      if (asked != Place::kAuto && asked != place) continue;
      const bool right = place == Place::kTopRight || place == Place::kBottomRight;
      const bool top = place == Place::kTopRight || place == Place::kTopLeft;
      const double left = right ? plot.right - gap - width : plot.left + gap;
      const double bottom = top ? plot.top - gap - height : plot.bottom + gap;
      boxes.push_back({left, left + width, bottom, bottom + height});
    }
  }
  return boxes;
}

std::optional<Box> free_box_of_inset(const Figure& figure, const FigureLayout& layout) {
  std::vector<Box> boxes = boxes_of_inset(figure, layout);
  std::erase_if(boxes, [&](const Box& box) { return boxes_touch(box, layout.enlarged); });
  const std::optional<Box> box = box_for_text(figure, layout, boxes);
  return box && data_in(figure, layout, *box) == 0 ? box : std::nullopt;
}

}  // namespace xlm
