// Figures as gnuplot scripts.
#include "results/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "results/gnuplot.h"

namespace xlm {
namespace {

/// Okabe and Ito's colours, which people with any colour vision tell apart; their yellow is too pale for lines.
constexpr std::array<std::string_view, 7> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                   "#e69f00", "#56b4e9", "#000000"};
constexpr std::array<int, 7> kPointTypes{7, 5, 9, 11, 13, 4, 6};  // filled shapes first
constexpr std::size_t kMostCellTexts = 240;
constexpr std::size_t kMostMarkedPoints = 25;  // of a line; a longer one is drawn without marks
/// Error bars are arrows with flat heads: gnuplot's own put a white disc behind each point.
constexpr std::string_view kErrorBar = "using 1:($2-$3):(0):(2*$3) with vectors heads size graph 0.005,90 linewidth 1";
constexpr double kBarsWidth = 0.8;  // of the room between two places

using Kind = FigureSpec::Kind;
using Scale = FigureSpec::Scale;

std::string terminal(PictureFormat format) {
  switch (format) {
    case PictureFormat::kSvg:
      return "set terminal svg size 760,500 enhanced font 'DejaVu Sans,Helvetica,sans-serif,14' background '#ffffff'\n";
    case PictureFormat::kPdf:
      return "set terminal pdfcairo size 6.4,4.2 enhanced font 'DejaVu Sans,10'\n";
    case PictureFormat::kPng:
      return "set terminal pngcairo size 1520,1000 enhanced font 'DejaVu Sans,14' fontscale 1.6 linewidth 2 pointscale "
             "1.8 "
             "background '#ffffff'\n";
  }
  return "";
}

std::string ticks(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < names.size(); ++i) parts.push_back(fmt::format("{} {}", gnuplot_string(names[i]), i));
  return join(parts, ", ");
}

/// The least and the greatest of what an axis shows.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void include(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Room around the data, so that no point sits on the frame. What is never negative does not reach below zero.
Range padded(Range range, bool log) {
  if (log && range.low > 0) {
    const double margin = std::max(0.05 * std::log(range.high / range.low), 0.1);
    return {range.low * std::exp(-margin), range.high * std::exp(margin)};
  }
  const double size = range.high > range.low ? range.high - range.low : std::max(std::abs(range.high), 1.0);
  const double low = range.low - 0.06 * size;
  return {range.low >= 0 ? std::max(low, 0.0) : low, range.high + 0.06 * size};
}

/// Four to eight round numbers in a range; on a logarithmic axis 1, 2 and 5 of every decade, or the decades alone.
std::vector<double> round_numbers(const Range& range, bool log) {
  std::vector<double> numbers;
  if (log && range.low > 0 && range.high / range.low >= 5) {
    const double decades = std::log10(range.high / range.low);
    for (double decade = std::pow(10.0, std::floor(std::log10(range.low))); decade <= range.high; decade *= 10) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double number = decade * factor;
        if (number >= range.low && number <= range.high && (factor == 1 || decades < 3)) numbers.push_back(number);
      }
    }
    return numbers;
  }
  const double rough = (range.high - range.low) / 6;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
  for (double i = std::ceil(range.low / step); i * step <= range.high + step * 1e-9; ++i) {
    numbers.push_back(i == 0 ? 0 : i * step);
  }
  return numbers;
}

/// "42M" from ten thousand on, plain numbers below.
std::string tick_text(double value) {
  if (std::abs(value) < 1e4) return fmt::format("{:.6g}", value);
  constexpr std::string_view kPrefixes = "kMGTPE";
  std::size_t prefix = 0;
  double scaled = value / 1000;
  for (; std::abs(scaled) >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix) scaled /= 1000;
  return fmt::format("{:.4g}{}", scaled, kPrefixes[prefix]);
}

/// Whether ticks on a linear axis stand so close that their texts would touch.
bool are_crowded(const std::vector<double>& ticks, const Range& range) {
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    if (ticks[i] - ticks[i - 1] < 0.06 * (range.high - range.low)) return true;
  }
  return false;
}

std::string ticks_at(const std::vector<double>& numbers) {
  std::vector<std::string> parts;
  for (const double number : numbers) parts.push_back(fmt::format("{} {}", gnuplot_string(tick_text(number)), number));
  return join(parts, ", ");
}

class Script {
 public:
  Script(const Figure& figure, PictureFormat format) : figure_(figure) {
    add(terminal(format));
    add("set encoding utf8\n");
  }

  std::string text() {
    looks();
    switch (figure_.spec.kind) {
      case Kind::kHeatmap:
        heatmap();
        break;
      case Kind::kBars:
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
    add("set border 3 linecolor '#555555'\nset tics nomirror out scale 0.5 textcolor '#333333'\n");
    add("set grid linecolor '#e4e4e4' linetype 1 linewidth 0.8\n");
    add(fmt::format("set title {} noenhanced font ',16' textcolor '#111111' offset 0,0.3\n",
                    gnuplot_string(figure_.spec.title)));
    add(fmt::format("set xlabel {} noenhanced textcolor '#111111'\n", gnuplot_string(figure_.x_label)));
    add(fmt::format("set ylabel {} noenhanced textcolor '#111111'\n", gnuplot_string(figure_.y_label)));
    if (!figure_.caption.empty()) {
      add(fmt::format("set label 1 {} at screen 0.985,0.025 right noenhanced font ',10' textcolor '#777777'\n",
                      gnuplot_string(figure_.caption)));
      add("set bmargin 4.5\n");
    }
    const bool legend = figure_.series.size() > 1 || !figure_.front.empty();
    add(legend
            ? "set key outside right top vertical Left reverse noenhanced samplen 2 spacing 1.3 textcolor '#111111'\n"
            : "unset key\n");
  }

  void name_x() {
    if (figure_.x_names.empty()) return;
    const bool long_names = std::any_of(figure_.x_names.begin(), figure_.x_names.end(), [&](const std::string& name) {
      return name.size() * figure_.x_names.size() > 70;
    });
    add(fmt::format("set xtics {}({}) noenhanced\n", long_names ? "rotate by -30 left " : "", ticks(figure_.x_names)));
    add(fmt::format("set xrange [-0.6:{}]\n", static_cast<double>(figure_.x_names.size()) - 0.4));
  }

  /// Range and ticks of one axis, chosen here: gnuplot's own leave half of a logarithmic picture empty.
  void axis(char name, const Range& data, Scale scale, const std::vector<double>& given_ticks) {
    const bool log = scale == Scale::kLog && data.low > 0;
    const Range range = padded(data, log);
    if (log) add(fmt::format("set logscale {} 10\nunset m{}tics\n", name, name));
    add(fmt::format("set {}range [{}:{}]\n", name, range.low, range.high));
    const bool own = given_ticks.empty() || (!log && are_crowded(given_ticks, range));
    add(fmt::format("set {}tics ({})\n", name, ticks_at(own ? round_numbers(range, log) : given_ticks)));
  }

  void axes() {
    Range x;
    Range y;
    for (const FigureSeries& series : figure_.series) {
      for (const FigurePoint& point : series.points) {
        x.include(point.x);
        y.include(point.y - point.spread.value_or(0));
        y.include(point.y + point.spread.value_or(0));
      }
    }
    if (figure_.x_names.empty()) axis('x', x, figure_.spec.x_scale, figure_.x_ticks);
    axis('y', y, figure_.spec.y_scale, {});
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
      parts.emplace_back("$front using 1:2 with lines linecolor '#999999' linewidth 1.5 title 'Pareto front'");
    }
    for (std::size_t i = 0; i < figure_.series.size(); ++i) {
      series_data(i);
      const std::string_view colour = kColours[i % kColours.size()];
      if (has_spread(i)) parts.push_back(spread_style(i, colour));
      parts.push_back(
          fmt::format("$points{} using 1:2 with {} linecolor '{}' linewidth 2 dashtype {} pointtype {} "
                      "pointsize 0.9 title {}",
                      i, style(i), colour, i < kColours.size() ? 1 : 2, kPointTypes[i % kPointTypes.size()],
                      gnuplot_string(figure_.series[i].label)));
    }
    add("plot " + join(parts, ", \\\n     ") + "\n");
  }

  bool is_long(std::size_t index) const { return figure_.series[index].points.size() > kMostMarkedPoints; }

  bool is_line(std::size_t index) const {
    return figure_.spec.kind == Kind::kLine || (!figure_.spec.grid.empty() && index == 1);  // a grid's line of means
  }

  /// Long series are lines alone.
  std::string style(std::size_t index) const {
    if (!is_line(index)) return "points";
    return is_long(index) ? "lines" : "linespoints";
  }

  /// Bars, or a band along a long line.
  std::string spread_style(std::size_t index, std::string_view colour) const {
    if (is_line(index) && is_long(index)) {
      return fmt::format(
          "$spreads{} using 1:($2-$3):($2+$3) with filledcurves fillstyle transparent solid 0.2 noborder "
          "linecolor '{}' notitle",
          index, colour);
    }
    return fmt::format("$spreads{} {} linecolor '{}' notitle", index, kErrorBar, colour);
  }

  void bars() {
    Range values;
    std::vector<std::string> parts;
    const double width = kBarsWidth / static_cast<double>(figure_.series.size());
    for (std::size_t i = 0; i < figure_.series.size(); ++i) {
      std::vector<std::vector<double>> boxes;
      std::vector<std::vector<double>> spreads;
      for (const FigurePoint& point : figure_.series[i].points) {
        const double x = point.x + (static_cast<double>(i) + 0.5) * width - kBarsWidth / 2;
        values.include(point.y - point.spread.value_or(0));
        values.include(point.y + point.spread.value_or(0));
        boxes.push_back({x, point.y, width * 0.94});
        if (point.spread) spreads.push_back({x, point.y, *point.spread});
      }
      data(fmt::format("boxes{}", i), boxes);
      parts.push_back(
          fmt::format("$boxes{} using 1:2:3 with boxes fillstyle solid 0.85 noborder linecolor '{}' title {}", i,
                      kColours[i % kColours.size()], gnuplot_string(figure_.series[i].label)));
      if (spreads.empty()) continue;
      data(fmt::format("spreads{}", i), spreads);
      parts.push_back(fmt::format("$spreads{} {} linecolor '#333333' notitle", i, kErrorBar));
    }
    const bool log = figure_.spec.y_scale == Scale::kLog && values.low > 0;
    if (!log) values.include(0);
    axis('y', values, figure_.spec.y_scale, {});
    add("set grid noxtics ytics\n");
    name_x();
    add("plot " + join(parts, ", \\\n     ") + "\n");
  }

  void heatmap() {
    std::vector<std::vector<double>> cells;
    Range range;
    for (std::size_t y = 0; y < figure_.grid.size(); ++y) {
      for (std::size_t x = 0; x < figure_.grid[y].size(); ++x) {
        range.include(figure_.grid[y][x]);
        cells.push_back({static_cast<double>(x), static_cast<double>(y), figure_.grid[y][x]});
      }
    }
    data("cells", cells);
    add("set palette defined (0 '#440154', 0.25 '#3b528b', 0.5 '#21918c', 0.75 '#5ec962', 1 '#fde725')\n");
    add("unset grid\nunset border\nset tics scale 0\n");
    const bool log = figure_.spec.y_scale == Scale::kLog && range.low > 0;
    if (range.low >= range.high) range = padded(range, log);  // one value has no scale
    add("set colorbox user origin screen 0.86,0.2 size screen 0.025,0.65\nset rmargin at screen 0.84\n");
    add(fmt::format("set cblabel {} noenhanced textcolor '#111111' offset 1,0\nset cbrange [{}:{}]\nset cbtics ({})\n",
                    gnuplot_string(figure_.value_label), range.low, range.high, ticks_at(round_numbers(range, log))));
    if (log) add("set logscale cb 10\nunset mcbtics\n");
    name_x();
    add(fmt::format("set xrange [-0.5:{}]\n", static_cast<double>(figure_.x_names.size()) - 0.5));
    add(fmt::format("set ytics ({}) noenhanced\nset yrange [-0.5:{}]\n", ticks(figure_.y_names),
                    static_cast<double>(figure_.y_names.size()) - 0.5));
    add("plot $cells using 1:2:3 with image pixels notitle" + cell_texts(cells.size(), range, log) + "\n");
  }

  /// Numbers in the cells, light on dark and dark on light.
  static std::string cell_texts(std::size_t cells, const Range& range, bool log) {
    if (cells > kMostCellTexts) return "";
    const double middle = log ? std::sqrt(range.low * range.high) : (range.low + range.high) / 2;
    const std::string number = range.high >= 100 ? "%.0f" : range.high >= 10 ? "%.1f" : "%.2f";
    const auto labels = [&](std::string_view condition, std::string_view colour) {
      return fmt::format(
          ", \\\n     $cells using 1:2:($3 {} {} ? sprintf('{}', $3) : '') with labels font ',12' "
          "textcolor '{}' notitle",
          condition, middle, number, colour);
    };
    return labels("<", "#ffffff") + labels(">=", "#000000");
  }

  const Figure& figure_;
  std::string text_;
};

}  // namespace

std::string gnuplot_script(const Figure& figure, PictureFormat format) { return Script(figure, format).text(); }

}  // namespace xlm
