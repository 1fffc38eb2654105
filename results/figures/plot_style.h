// The style of figures: colours, shapes, ranges and ticks.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/figures/figure.h"

namespace xlm {

struct SeriesLook {
  std::string_view colour;
  bool dashed = false;       // from the second use of a colour on
  std::string_view symbol;   // of plotly.js; filled shapes first. Each use of a colour has another one
  std::string_view pattern;  // of bars, likewise; "": none
};

SeriesLook series_look(std::size_t index);

/// The colour of the marks of the `index`-th series: that of the series, unless there is only one.
std::string_view mark_colour(const Figure& figure, std::size_t index);

/// Colours of a heatmap from the smallest value to the largest, evenly spaced.
inline constexpr std::array<std::string_view, 5> kPalette{"#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"};

inline constexpr std::string_view kFrameColour = "#555555";
inline constexpr std::string_view kGridColour = "#e4e4e4";
inline constexpr std::string_view kMarkColour = "#d62728";
inline constexpr std::string_view kFrontColour = "#999999";
inline constexpr std::string_view kFrontTitle = "Pareto front";
inline constexpr std::array<std::string_view, 4> kPlotlyDashes{"solid", "dash", "dot", "dashdot"};  // of fronts

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value);
};

struct Axis {
  Range range;
  bool log = false;
  std::vector<double> ticks;
};

/// The axes of a figure. x has one unless its places have names. The colour axis is for heatmaps.
Axis x_axis(const Figure& figure);
Axis y_axis(const Figure& figure);
Axis colour_axis(const Figure& figure);

/// Why axes are linear that should be logarithmic, one line for each: zero and negative numbers have no logarithm.
std::vector<std::string> lost_logarithms(const Figure& figure);

/// The texts at an axis's ticks: "42M" from ten thousand on, plain numbers below. They have equal decimals unless the
/// axis is logarithmic.
std::vector<std::string> tick_texts(const Axis& axis);

/// One number for hover texts and lists: "1.07896", "21477500".
std::string value_text(double value);

/// Whether a series has too many points to mark each.
bool is_long(const FigureSeries& series);

bool has_spread(const FigureSeries& series);

/// The parts of a series' spread. On an axis of numbers no point is moved, so error bars of several curves that would
/// hide each other become bands.
struct SpreadParts {
  std::vector<std::vector<FigurePoint>> bands;  // each along at least two neighbouring points
  std::vector<FigurePoint> bars;
};
SpreadParts spread_parts(const Figure& figure, std::size_t series);

/// The places on x of a figure's points. Where places have names, error bars of several series that share a place stand
/// side by side. Numbers are never moved, and neither are the points of a Pareto front.
class SetApart {
 public:
  explicit SetApart(const Figure& figure);

  double operator()(std::size_t series, double x) const;

 private:
  std::vector<int> of_series_;  // from 1 among series with error bars; 0: none
  int count_ = 0;
  double step_ = 0;
};

bool has_legend(const Figure& figure);

/// Whether the cells of a heatmap are few enough for numbers in them.
bool has_cell_texts(const Figure& figure);
/// A number as its cell shows it.
std::string cell_text(const Figure& figure, double value);

}  // namespace xlm
