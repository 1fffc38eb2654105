// Figures as gnuplot scripts.
#include "results/figures/gnuplot_script.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "results/figures/gnuplot_process.h"
#include "results/figures/plot_style.h"

namespace xlm {
namespace {

/// Error bars are arrows with flat heads: gnuplot's own put a white disc behind each point.
constexpr std::string_view kErrorBar = "using 1:($2-$3):(0):(2*$3) with vectors heads size graph 0.005,90 linewidth 1";

/// `wide`: with room for a line of text.
std::string terminal(PictureFormat format, bool wide) {
  switch (format) {
    case PictureFormat::kSvg:
      return fmt::format(
          "set terminal svg size {} enhanced font 'DejaVu Sans,Helvetica,sans-serif,14' background '#ffffff'\n",
          wide ? "1140,400" : "760,500");
    case PictureFormat::kPdf:
      return fmt::format("set terminal pdfcairo size {} enhanced font 'DejaVu Sans,10'\n",
                         wide ? "9.6,3.4" : "6.4,4.2");
    case PictureFormat::kPng:
      return fmt::format(
          "set terminal pngcairo size {} enhanced font 'DejaVu Sans,14' fontscale 1.6 linewidth 2 pointscale 1.8 "
          "background '#ffffff'\n",
          wide ? "2280,800" : "1520,1000");
  }
  return "";
}

std::string ticks(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < names.size(); ++i) parts.push_back(fmt::format("{} {}", gnuplot_string(names[i]), i));
  return join(parts, ", ");
}

std::string ticks_of(const Axis& axis) {
  const std::vector<std::string> texts = tick_texts(axis);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    parts.push_back(fmt::format("{} {}", gnuplot_string(texts[i]), axis.ticks[i]));
  }
  return join(parts, ", ");
}

class Script {
 public:
  Script(const Figure& figure, PictureFormat format) : figure_(figure), format_(format) {
    add(terminal(format, figure.description.kind == FigureDescription::Kind::kText));
    add("set encoding utf8\n");
  }

  std::string text() {
    looks();
    switch (figure_.description.kind) {
      case FigureDescription::Kind::kHeatmap:
        heatmap();
        break;
      case FigureDescription::Kind::kBars:
        bars();
        break;
      default:
        axes();
        points();
    }
    return std::move(text_);
  }

 private:
  void add(const std::string& lines) { text_ += lines; }

  void looks() {
    add(fmt::format("set border 3 linecolor '{}'\nset tics nomirror out scale 0.5 textcolor '#333333'\n",
                    kFrameColour));
    add(fmt::format("set grid linecolor '{}' linetype 1 linewidth 0.8\n", kGridColour));
    add(fmt::format("set title {} noenhanced font ',16' textcolor '#111111' offset 0,0.3\n",
                    gnuplot_string(figure_.description.title)));
    add(fmt::format("set xlabel {} noenhanced textcolor '#111111'\n", gnuplot_string(figure_.x_label)));
    add(fmt::format("set ylabel {} noenhanced textcolor '#111111'\n", gnuplot_string(figure_.y_label)));
    if (!figure_.caption.empty()) {
      add(fmt::format("set label 1 {} at screen 0.985,0.025 right noenhanced font ',10' textcolor '#777777'\n",
                      gnuplot_string(figure_.caption)));
      add("set bmargin 4.5\n");
    }
    add(has_legend(figure_)
            ? "set key outside right top vertical Left reverse noenhanced samplen 2 spacing 1.3 textcolor '#111111'\n"
            : "unset key\n");
  }

  /// The text itself, a character under each point.
  void lay_text() {
    const double full = format_ == PictureFormat::kPdf ? 10 : 14;
    const double size = full * std::min(1.1, 100 / static_cast<double>(figure_.x_names.size()));
    add(fmt::format("set xtics scale 0 {} font '{},{:.3g}' ({}) noenhanced\n",
                    has_long_tokens(figure_) ? "rotate by 90 right" : "norotate", kTextFont, size,
                    ticks(figure_.x_names)));
    add(fmt::format("set xrange [-1:{}]\nset grid noxtics ytics\n", figure_.x_names.size()));
  }

  void name_x() {
    if (figure_.x_names.empty()) return;
    if (figure_.description.kind == FigureDescription::Kind::kText) return lay_text();
    const bool long_names = std::any_of(figure_.x_names.begin(), figure_.x_names.end(), [&](const std::string& name) {
      return name.size() * figure_.x_names.size() > 70;
    });
    add(fmt::format("set xtics {}({}) noenhanced\n", long_names ? "rotate by -30 left " : "", ticks(figure_.x_names)));
    add(fmt::format("set xrange [-0.6:{}]\n", static_cast<double>(figure_.x_names.size()) - 0.4));
  }

  /// Range and ticks of one axis, chosen here: gnuplot's own leave half of a logarithmic picture empty.
  void set_axis(char name, const Axis& axis) {
    if (axis.log) add(fmt::format("set logscale {} 10\nunset m{}tics\n", name, name));
    add(fmt::format("set {}range [{}:{}]\n", name, axis.range.low, axis.range.high));
    add(fmt::format("set {}tics ({})\n", name, ticks_of(axis)));
  }

  void axes() {
    if (figure_.x_names.empty()) set_axis('x', x_axis(figure_));
    set_axis('y', y_axis(figure_));
    name_x();
  }

  /// A data block of rows of numbers.
  void data(const std::string& name, const std::vector<std::vector<double>>& rows) {
    add(fmt::format("${} << EOD\n", name));
    for (const std::vector<double>& row : rows) add(fmt::format("{}\n", fmt::join(row, " ")));
    add("EOD\n");
  }

  /// Data of one series, and of its points with a spread: a missing spread would hide the point.
  void series_data(std::size_t index) {
    std::vector<std::vector<double>> points;
    std::vector<std::vector<double>> spreads;
    for (const FigurePoint& point : figure_.series[index].points) {
      points.push_back({point.x, point.y});
      if (point.spread) spreads.push_back({point.x, point.y, *point.spread});
    }
    data(fmt::format("points{}", index), points);
    if (!spreads.empty()) data(fmt::format("spreads{}", index), spreads);
  }

  bool has_spread(std::size_t index) const {
    const auto& points = figure_.series[index].points;
    return std::any_of(points.begin(), points.end(), [](const FigurePoint& point) { return point.spread.has_value(); });
  }

  void points() {
    std::vector<std::string> parts;
    if (!figure_.front.empty()) {
      std::vector<std::vector<double>> corners;
      for (const auto& [x, y] : figure_.front) corners.push_back({x, y});
      data("front", corners);
      parts.push_back(fmt::format("$front using 1:2 with lines linecolor '{}' linewidth 1.5 title '{}'", kFrontColour,
                                  kFrontTitle));
    }
    for (std::size_t i = 0; i < figure_.series.size(); ++i) {
      series_data(i);
      const SeriesLook look = series_look(i);
      if (has_spread(i)) parts.push_back(spread_style(i, look.colour));
      parts.push_back(fmt::format(
          "$points{} using 1:2 with {} linecolor '{}' linewidth 2 dashtype {} pointtype {} "
          "pointsize 0.9 title {}",
          i, style(i), look.colour, look.dashed ? 2 : 1, look.gnuplot_point, gnuplot_string(figure_.series[i].label)));
    }
    add("plot " + join(parts, ", \\\n     ") + "\n");
  }

  /// Long series are lines alone.
  std::string style(std::size_t index) const {
    if (!is_line(figure_, index)) return "points";
    return is_long(figure_.series[index]) ? "lines" : "linespoints";
  }

  /// Bars, or a band along a long line.
  std::string spread_style(std::size_t index, std::string_view colour) const {
    if (is_line(figure_, index) && is_long(figure_.series[index])) {
      return fmt::format(
          "$spreads{} using 1:($2-$3):($2+$3) with filledcurves fillstyle transparent solid 0.2 noborder "
          "linecolor '{}' notitle",
          index, colour);
    }
    return fmt::format("$spreads{} {} linecolor '{}' notitle", index, kErrorBar, colour);
  }

  void bars() {
    std::vector<std::string> parts;
    const double width = kBarsWidth / static_cast<double>(figure_.series.size());
    for (std::size_t i = 0; i < figure_.series.size(); ++i) {
      std::vector<std::vector<double>> boxes;
      std::vector<std::vector<double>> spreads;
      for (const FigurePoint& point : figure_.series[i].points) {
        const double x = point.x + (static_cast<double>(i) + 0.5) * width - kBarsWidth / 2;
        boxes.push_back({x, point.y, width * 0.94});
        if (point.spread) spreads.push_back({x, point.y, *point.spread});
      }
      data(fmt::format("boxes{}", i), boxes);
      parts.push_back(
          fmt::format("$boxes{} using 1:2:3 with boxes fillstyle solid 0.85 noborder linecolor '{}' title {}", i,
                      series_look(i).colour, gnuplot_string(figure_.series[i].label)));
      if (spreads.empty()) continue;
      data(fmt::format("spreads{}", i), spreads);
      parts.push_back(fmt::format("$spreads{} {} linecolor '#333333' notitle", i, kErrorBar));
    }
    set_axis('y', y_axis(figure_));
    add("set grid noxtics ytics\n");
    name_x();
    add("plot " + join(parts, ", \\\n     ") + "\n");
  }

  void heatmap() {
    std::vector<std::vector<double>> cells;
    std::vector<std::vector<double>> numbers;  // gnuplot would write "nan" where there is nothing
    for (std::size_t y = 0; y < figure_.grid.size(); ++y) {
      for (std::size_t x = 0; x < figure_.grid[y].size(); ++x) {
        cells.push_back({static_cast<double>(x), static_cast<double>(y), figure_.grid[y][x]});
        if (std::isfinite(figure_.grid[y][x])) numbers.push_back(cells.back());
      }
    }
    data("cells", cells);
    data("numbers", numbers);
    std::vector<std::string> colours;
    for (const std::string_view colour : kPalette) colours.push_back(fmt::format("{} '{}'", colours.size(), colour));
    add("set palette defined (" + join(colours, ", ") + ")\n");
    add("unset grid\nunset border\nset tics scale 0\n");
    const Axis colour = colour_axis(figure_);
    add("set colorbox user origin screen 0.86,0.2 size screen 0.025,0.65\nset rmargin at screen 0.84\n");
    add(fmt::format("set cblabel {} noenhanced textcolor '#111111' offset 1,0\nset cbrange [{}:{}]\nset cbtics ({})\n",
                    gnuplot_string(figure_.value_label), colour.range.low, colour.range.high, ticks_of(colour)));
    if (colour.log) add("set logscale cb 10\nunset mcbtics\n");
    name_x();
    add(fmt::format("set xrange [-0.5:{}]\n", static_cast<double>(figure_.x_names.size()) - 0.5));
    add(fmt::format("set ytics ({}) noenhanced\nset yrange [-0.5:{}]\n", ticks(figure_.y_names),
                    static_cast<double>(figure_.y_names.size()) - 0.5));
    add("plot $cells using 1:2:3 with image pixels notitle" + cell_texts(colour) + "\n");
  }

  /// Numbers in the cells, light on dark and dark on light.
  std::string cell_texts(const Axis& colour) const {
    const std::optional<int> digits = cell_digits(figure_);
    if (!digits) return "";
    const Range& range = colour.range;
    const double middle = colour.log ? std::sqrt(range.low * range.high) : (range.low + range.high) / 2;
    const auto labels = [&](std::string_view filter, std::string_view text_colour) {
      return fmt::format(
          ", \\\n     $numbers using 1:2:($3 {} {} ? sprintf('%.{}f', $3) : '') with labels font ',12' "
          "textcolor '{}' notitle",
          filter, middle, *digits, text_colour);
    };
    return labels("<", "#ffffff") + labels(">=", "#000000");
  }

  const Figure& figure_;
  PictureFormat format_;
  std::string text_;
};

}  // namespace

std::string gnuplot_script(const Figure& figure, PictureFormat format) { return Script(figure, format).text(); }

}  // namespace xlm
