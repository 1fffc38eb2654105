// Which ticks, names and numbers have room in a picture. Lengths are in points.
#pragma once

#include <string>
#include <vector>

#include "results/figures/figure.h"
#include "results/figures/plot_style.h"

namespace xlm {

/// Leaves out ticks of an axis of a length whose texts would touch.
void thin_ticks_on_x(Axis& axis, double length, double size);
void thin_ticks_on_y(Axis& axis, double length, double size);

/// Names of places on x.
struct NamesOnX {
  std::vector<std::string> names;
  bool upright = false;
  double size = 0;        // of the text
  double length = 0;      // of the longest, if they stand upright
  double least_room = 0;  // that a legible name needs
};

/// Names that have `room` each: level, upright, or if `may_drop`, only some.
NamesOnX level_or_upright_names(std::vector<std::string> names, double room, double size, bool may_drop);

/// Tokens of a text, which stand below every point, in a size that fits. Words stand upright.
NamesOnX tokens_with_room(std::vector<std::string> tokens, double room, double size);

/// Whether some tokens have more than two characters. They are written upright.
bool has_long_tokens(const std::vector<std::string>& tokens);

/// Clears names but every `step`-th.
void keep_some_names(std::vector<std::string>& names, std::size_t step);

/// Many names are only an order: some of them remain.
std::vector<std::string> some_of_many_names(std::vector<std::string> names);

/// The largest size, up to `size`, of the numbers in cells of a heatmap; 0 if it has none.
double size_of_cells(const Figure& figure, double column, double row, double size);

}  // namespace xlm
