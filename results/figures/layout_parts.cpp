// Parts of layouts.
#include "results/figures/layout_parts.h"

#include "results/figures/text_measure.h"

namespace xlm {

Box box_of(const PlacedText& text) {
  const double length = text.monospaced ? monospaced_width(text.text, text.size) : text_width(text.text, text.size);
  const double before = length * static_cast<double>(static_cast<int>(text.anchor)) / 2;
  const double half = kTextLine * text.size / 2;
  if (text.upright) return {text.x - half, text.x + half, text.y - before, text.y - before + length};
  return {text.x - before, text.x - before + length, text.y - half, text.y + half};
}

void add_lines(FigureLayout& layout, const std::vector<std::string>& lines, PlacedText like, double right, double up) {
  for (const std::string& line : lines) {
    like.text = line;
    layout.texts.push_back(like);
    like.x += right * kTextLine * like.size;
    like.y += up * kTextLine * like.size;
  }
}

FigureLayout moved(FigureLayout layout, double right, double up) {
  for (Box* box : {&layout.plot, &layout.colour_bar}) {
    box->left += right;
    box->right += right;
    box->bottom += up;
    box->top += up;
  }
  for (PlacedText& text : layout.texts) {
    text.x += right;
    text.y += up;
  }
  for (PlacedSample& sample : layout.samples) {
    sample.x += right;
    sample.y += up;
  }
  for (PlacedLine& line : layout.references) line.place += line.upright ? right : up;
  return layout;
}

}  // namespace xlm
