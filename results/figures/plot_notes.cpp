// Places reference lines and their labels.
#include "results/figures/plot_notes.h"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "results/figures/plot_room.h"
#include "results/figures/text_measure.h"

namespace xlm {
namespace {

constexpr double kNoteGap = 0.4;  // between a line and its label, of the size of texts

bool is_inside(const Box& box, const Box& plot) {
  return box.left >= plot.left && box.right <= plot.right && box.bottom >= plot.bottom && box.top <= plot.top;
}

/// Rectangles of a width next to a line, inside the plot: at its ends first, then along it.
std::vector<Box> boxes_along(const PlacedLine& line, const FigureLayout& layout, double width) {
  constexpr int kPlaces = 8;
  const Box& plot = layout.plot;
  const double gap = kNoteGap * layout.text_size;
  const double height = kTextLine * layout.text_size;
  std::vector<Box> boxes;
  for (const double away : {0.05, 0.6}) {  // of a text's height: further from the line if data are everywhere along it
    for (int place = 0; place <= kPlaces; ++place) {
      // From the far end: the right of a level line, the top of an upright one.
      const double share = 1 - static_cast<double>(place) / kPlaces;
      for (const bool beyond : {true, false}) {
        Box box;
        if (line.upright) {
          box.left = beyond ? line.place + gap + away * height : line.place - gap - away * height - width;
          box.bottom = plot.bottom + share * (plot.height() - height);
        } else {
          box.left = plot.left + gap + share * (plot.width() - width - 2 * gap);
          box.bottom = beyond ? line.place + away * height : line.place - away * height - height;
        }
        box.right = box.left + width;
        box.top = box.bottom + height;
        if (is_inside(box, plot)) boxes.push_back(box);
      }
    }
  }
  return boxes;
}

}  // namespace

void place_references(const Figure& figure, FigureLayout& layout) {
  for (const ReferenceLine& line : figure.description.looks.references) {
    const Spot spot = spot_of(figure, layout, line.x.value_or(0), line.y.value_or(0));
    layout.references.push_back({line.x ? spot.x : spot.y, line.x.has_value()});
  }
}

std::string place_notes(const Figure& figure, FigureLayout& layout) {
  const FigureLooks& looks = figure.description.looks;
  for (std::size_t i = 0; i < looks.references.size(); ++i) {
    const std::string& label = looks.references[i].label;
    if (label.empty()) continue;
    const std::vector<Box> boxes = boxes_along(layout.references[i], layout, text_width(label, layout.text_size));
    const std::optional<Box> box = box_for_text(figure, layout, boxes);
    if (!box) return fmt::format("the label '{}' has no room in the plot", label);
    layout.texts.push_back({.text = label,
                            .x = box->left,
                            .y = (box->bottom + box->top) / 2,
                            .size = layout.text_size,
                            .anchor = PlacedText::Anchor::kLeft,
                            .colour = kReferenceColour});
  }
  return "";
}

}  // namespace xlm
