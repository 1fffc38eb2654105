// Places the texts at ticks.
#include "results/figures/axis_texts.h"

#include "results/figures/plot_room.h"
#include "results/figures/text_measure.h"

namespace xlm {
namespace {

constexpr std::string_view kTickColour = "#333333";

void place_texts_on_x(const Figure& figure, FigureLayout& layout) {
  const bool named = !layout.x_names.empty();
  const double size = named ? layout.x_name_size : layout.text_size;
  const double top = layout.plot.bottom - kTickGapBelow * layout.text_size;
  const auto add = [&](const std::string& text, double share) {
    if (text.empty()) return;
    const bool upright = named && layout.upright_x_names;
    layout.texts.push_back({.text = text,
                            .x = layout.plot.left + share * layout.plot.width(),
                            .y = upright ? top : top - kTextLine * size / 2,
                            .size = size,
                            .anchor = upright ? PlacedText::Anchor::kRight : PlacedText::Anchor::kCentre,
                            .upright = upright,
                            .monospaced = figure.tokens_on_x,
                            .colour = kTickColour});
  };
  const double margin = margin_of_names(figure);
  const double length = static_cast<double>(layout.x_names.size()) - 1 + 2 * margin;
  for (std::size_t i = 0; i < layout.x_names.size(); ++i)
    add(layout.x_names[i], (static_cast<double>(i) + margin) / length);
  const std::vector<std::string> texts = named ? std::vector<std::string>() : tick_texts(layout.x);
  for (std::size_t i = 0; i < texts.size(); ++i) add(texts[i], share_of(layout.x, layout.x.ticks[i]));
}

/// A text next to an upright line, at a share of the plot's height.
void place_at_side(const std::string& text, double x, double share, PlacedText::Anchor anchor, FigureLayout& layout) {
  if (text.empty()) return;
  layout.texts.push_back({.text = text,
                          .x = x,
                          .y = layout.plot.bottom + share * layout.plot.height(),
                          .size = layout.text_size,
                          .anchor = anchor,
                          .colour = kTickColour});
}

}  // namespace

void place_axis_texts(const Figure& figure, FigureLayout& layout) {
  place_texts_on_x(figure, layout);
  const double gap = kTickGapAtSide * layout.text_size;
  const double left = layout.plot.left - gap;
  if (figure.grid.empty()) {
    const std::vector<std::string> texts = tick_texts(layout.y);
    for (std::size_t i = 0; i < texts.size(); ++i)
      place_at_side(texts[i], left, share_of(layout.y, layout.y.ticks[i]), PlacedText::Anchor::kRight, layout);
    return;
  }
  const auto rows = static_cast<double>(layout.y_names.size());
  for (std::size_t i = 0; i < layout.y_names.size(); ++i)
    place_at_side(layout.y_names[i], left, (static_cast<double>(i) + 0.5) / rows, PlacedText::Anchor::kRight, layout);
  const std::vector<std::string> texts = tick_texts(layout.colour);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    place_at_side(texts[i], layout.colour_bar.right + gap / 2, share_of(layout.colour, layout.colour.ticks[i]),
                  PlacedText::Anchor::kLeft, layout);
  }
}

}  // namespace xlm
