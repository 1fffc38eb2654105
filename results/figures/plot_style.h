// What a figure looks like whoever draws it, gnuplot or plotly.js: colours, shapes, ranges and ticks of the axes.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/figures/figure.h"

namespace xlm {

/// How the points and lines of a series are drawn.
struct SeriesLook {
  std::string_view colour;
  bool dashed = false;  // when colours begin again
  int gnuplot_point = 0;
  std::string_view plotly_symbol;
};

/// The look of the `index`-th series of a figure.
SeriesLook series_look(std::size_t index);

/// The colour of the marks of the `index`-th series: its own, unless it stands alone.
std::string_view mark_colour(const Figure& figure, std::size_t index);

/// Colours of a heatmap from the least value to the greatest, evenly spaced.
inline constexpr std::array<std::string_view, 5> kPalette{"#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"};

/// Up to this share of the way through the palette white text has more contrast than black.
double palette_is_dark_until();

inline constexpr std::string_view kFrameColour = "#555555";
inline constexpr std::string_view kGridColour = "#e4e4e4";
inline constexpr std::string_view kMarkColour = "#d62728";
inline constexpr std::string_view kFrontColour = "#999999";
inline constexpr std::string_view kFrontTitle = "Pareto front";
inline constexpr std::array<std::string_view, 4> kPlotlyDashes{"solid", "dash", "dot", "dashdot"};  // of fronts

/// The least and the greatest of what an axis shows.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value);
};

/// An axis of numbers, with room around the data.
struct Axis {
  Range range;
  bool log = false;
  std::vector<double> ticks;
};

/// The axes that a figure needs. x has one where its places have no names; colours are those of a heatmap.
Axis x_axis(const Figure& figure);
Axis y_axis(const Figure& figure);
Axis colour_axis(const Figure& figure);

/// Why an axis that was asked to be logarithmic is linear, one line for each: zero and less have no logarithm.
std::vector<std::string> lost_logarithms(const Figure& figure);

/// What stands at the ticks of an axis: "42M" from ten thousand on, plain numbers below, with the same number of digits
/// behind the point unless the axis is logarithmic.
std::vector<std::string> tick_texts(const Axis& axis);

/// One number for people who look closely: "1.07896", "21477500".
std::string value_text(double value);

/// Whether a series has too many points to mark each.
bool is_long(const FigureSeries& series);

/// Whether any point of a series has a spread.
bool has_spread(const FigureSeries& series);

/// Where the points of series are drawn on x: by a little beside their place where error bars of several series would
/// stand on each other.
class SetApart {
 public:
  explicit SetApart(const Figure& figure);

  double operator()(std::size_t series, double x) const;

 private:
  std::vector<int> of_series_;  // from 1 among those with error bars; 0: has none
  int count_ = 0;
  double step_ = 0;  // of a logarithmic axis: of the logarithm
  bool log_ = false;
};

bool has_legend(const Figure& figure);

/// Digits behind the point of the numbers in a heatmap's cells; nothing where there are too many cells for numbers.
std::optional<int> cell_digits(const Figure& figure);

}  // namespace xlm
