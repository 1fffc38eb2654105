// Where the parts of a picture are: axes, texts and legend, in points (1/72 inch) from the lower left corner.
// A picture that cannot be legible at its size is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/figures/figure.h"
#include "results/figures/legend_block.h"
#include "results/figures/plot_style.h"

namespace xlm {

inline constexpr double kPointsPerInch = 72;

struct Box {
  double left = 0;
  double right = 0;
  double bottom = 0;
  double top = 0;

  double width() const { return right - left; }
  double height() const { return top - bottom; }
};

/// A line of text. `y` is its middle; of an upright one `x` is. The anchor says which part of it is at the other.
struct PlacedText {
  enum class Anchor { kLeft, kCentre, kRight };
  std::string text;
  double x = 0;
  double y = 0;
  double size = 0;
  Anchor anchor = Anchor::kCentre;
  bool upright = false;
  bool monospaced = false;
  std::string_view colour = "#111111";
};

/// A sample of the legend: from x to x + width at the height y.
struct PlacedSample {
  LegendEntry entry;
  double x = 0;
  double y = 0;
  double width = 0;
};

/// A line across the plot: at `place` on x if it is upright, else on y.
struct PlacedLine {
  double place = 0;
  bool upright = false;
};

struct FigureLayout {
  double width = 0;  // of the picture
  double height = 0;
  double text_size = 0;
  double stroke = 1;              // of lines and marks; 1: as in a picture of the usual width
  Box plot;                       // between the axes
  std::vector<PlacedText> texts;  // all of the picture, with those at the ticks
  std::vector<PlacedSample> samples;
  std::vector<PlacedLine> references;
  Axis x;  // with the ticks that have room
  Axis y;
  Axis colour;
  std::vector<std::string> x_names;  // "" without room
  std::vector<std::string> y_names;
  bool upright_x_names = false;
  double x_name_size = 0;  // text size of names on x
  double cell_size = 0;    // heatmap: of the numbers in cells; 0: they have no room
  Box colour_bar;          // heatmap

  std::vector<FigureLayout> panels;  // of small multiples, in the places of the whole picture
};

/// Throws UsageError if the figure cannot be legible at its size.
FigureLayout layout_of(const Figure& figure);

}  // namespace xlm
