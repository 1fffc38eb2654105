// Parts of gnuplot scripts for the kinds of figures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/figures/figure_kind.h"
#include "results/figures/figure_layout.h"
#include "results/figures/plot_style.h"

namespace xlm {

/// Error bars are arrows with flat heads: gnuplot's own put a white disc behind each point.
inline constexpr std::string_view kErrorBar =
    "using 1:($2-$3):(0):(2*$3) with vectors heads size graph 0.005,90 linewidth 1";

/// `text` as a gnuplot string: in single quotes, where gnuplot expands nothing. Control characters become blanks.
std::string gnuplot_string(std::string_view text);

/// Sets the size, font and format of a picture: the beginning of its script.
std::string gnuplot_terminal(const Figure& figure, const FigureLayout& layout, PictureFormat format);

/// The script of one plot under construction. It begins with margins, texts and legend.
class GnuplotScript {
 public:
  GnuplotScript(const Figure& figure, const FigureLayout& layout, PictureFormat format);

  const FigureLayout& layout() const { return layout_; }

  /// gnuplot's word for the picture's font in a size in points, or for one whose characters have the same width.
  std::string font(double points, bool monospaced = false) const;

  /// Width of a line and size of a mark in gnuplot's units, from those in a picture of the usual width.
  double line_width(double usual) const { return usual * layout_.stroke; }
  double mark_size() const { return kUsualMark * layout_.stroke; }

  /// `text` as a gnuplot string that shows it. LaTeX gives a meaning to some of its characters.
  std::string shown(std::string_view text) const;

  void add(const std::string& lines) { text_ += lines; }

  /// Sets range and ticks of x if its places have names.
  void name_x();

  /// Sets range and ticks of x and y: gnuplot's defaults leave half of a logarithmic picture empty.
  void set_x_axis() { set_axis('x', layout_.x); }
  void set_y_axis() { set_axis('y', layout_.y); }

  /// Draws the scale of colours at its place.
  void place_colour_bar();

  /// Adds a data block of rows of numbers. An empty row ends a line or a band; the next one begins another.
  void data(const std::string& name, const std::vector<std::vector<double>>& rows);

  /// Plots the Pareto front and all series as points or lines, with their spread. Ends the script.
  void plot_series();

  /// Plots these parts. Ends the script.
  void plot(const std::vector<std::string>& parts);

  std::string text() { return std::move(text_); }

 private:
  static constexpr double kUsualMark = 1.2;

  std::string at(double x, double y) const;
  void place_texts();
  void place_references();
  void place_sample(const PlacedSample& sample);
  void set_axis(char name, const Axis& axis);
  void series_data(std::size_t index);
  void add_spreads(std::size_t index, std::string_view colour, std::vector<std::string>& parts);

  const Figure& figure_;
  const FigureLayout& layout_;
  PictureFormat format_;
  SetApart set_apart_;
  std::string text_;
};

/// The whole script of points or lines: both axes and all series.
std::string series_script(const Figure& figure, const FigureLayout& layout, PictureFormat format);

/// The script of the texts and the legend around panels.
std::string frame_script(const Figure& figure, const FigureLayout& layout, PictureFormat format);

}  // namespace xlm
