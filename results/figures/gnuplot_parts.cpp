// Parts of gnuplot scripts.
#include "results/figures/gnuplot_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

struct Size {
  double width = 0;  // inches
  double height = 0;
};

constexpr Size kUsualSize{6.4, 4.2};
constexpr Size kWideSize{9.6, 3.4};
constexpr double kDotsPerInch = 119;  // of an SVG; a PNG has twice as many

std::string terminal_of(const FigureDescription& description, PictureFormat format, bool wide) {
  const Size& usual = wide ? kWideSize : kUsualSize;
  const Size size{description.width > 0 ? description.width : usual.width,
                  description.height > 0 ? description.height : usual.height};
  const auto dots = [](double inches, double scale) { return std::lround(inches * kDotsPerInch * scale / 10) * 10; };
  const std::string font = description.font.empty() ? "DejaVu Sans" : description.font;
  switch (format) {
    case PictureFormat::kSvg:
      return fmt::format("set terminal svg size {},{} enhanced font '{},14' background '#ffffff'\n",
                         dots(size.width, 1), dots(size.height, 1),
                         description.font.empty() ? "DejaVu Sans,Helvetica,sans-serif" : description.font);
    case PictureFormat::kPdf:
      return fmt::format("set terminal pdfcairo size {},{} enhanced font '{},10'\n", size.width, size.height, font);
    case PictureFormat::kPng:
      return fmt::format(
          "set terminal pngcairo size {},{} enhanced font '{},14' fontscale 1.6 linewidth 2 pointscale 1.8 "
          "background '#ffffff'\n",
          dots(size.width, 2), dots(size.height, 2), font);
  }
  return "";
}

/// Frame, title, labels, caption and legend.
std::string looks_of(const Figure& figure) {
  std::string text =
      fmt::format("set border 3 linecolor '{}'\nset tics nomirror out scale 0.5 textcolor '#333333'\n", kFrameColour);
  text += fmt::format("set grid linecolor '{}' linetype 1 linewidth 0.8\n", kGridColour);
  text += fmt::format("set title {} noenhanced font ',16' textcolor '#111111' offset 0,0.3\n",
                      gnuplot_string(figure.description.title));
  text += fmt::format("set xlabel {} noenhanced textcolor '#111111'\n", gnuplot_string(figure.x_label));
  text += fmt::format("set ylabel {} noenhanced textcolor '#111111'\n", gnuplot_string(figure.y_label));
  if (!figure.caption.empty()) {
    text += fmt::format("set label 1 {} at screen 0.985,0.025 right noenhanced font ',10' textcolor '#777777'\n",
                        gnuplot_string(figure.caption));
    text += "set bmargin 4.5\n";
  }
  return text +
         (has_legend(figure)
              ? "set key outside right top vertical Left reverse noenhanced samplen 2 spacing 1.3 textcolor '#111111'\n"
              : "unset key\n");
}

/// Long series have lines without points.
std::string_view style_of(const FigureSeries& series) {
  if (!series.joined) return "points";
  return is_long(series) ? "lines" : "linespoints";
}

}  // namespace

std::string gnuplot_string(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "''";
    } else {
      quoted += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return quoted + "'";
}

std::string gnuplot_ticks(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < names.size(); ++i) parts.push_back(fmt::format("{} {}", gnuplot_string(names[i]), i));
  return join(parts, ", ");
}

std::string gnuplot_ticks(const Axis& axis) {
  const std::vector<std::string> texts = tick_texts(axis);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    parts.push_back(fmt::format("{} {}", gnuplot_string(texts[i]), axis.ticks[i]));
  }
  return join(parts, ", ");
}

GnuplotScript::GnuplotScript(const Figure& figure, PictureFormat format, Shape shape)
    : figure_(figure), set_apart_(figure) {
  add(terminal_of(figure.description, format, shape == Shape::kWide));
  add("set encoding utf8\n");
  add(looks_of(figure));
}

void GnuplotScript::name_x() {
  if (figure_.x_names.empty()) return;
  const bool long_names = std::any_of(figure_.x_names.begin(), figure_.x_names.end(), [&](const std::string& name) {
    return name.size() * figure_.x_names.size() > 70;
  });
  add(fmt::format("set xtics {}({}) noenhanced\n", long_names ? "rotate by -30 left " : "",
                  gnuplot_ticks(figure_.x_names)));
  add(fmt::format("set xrange [-0.6:{}]\n", static_cast<double>(figure_.x_names.size()) - 0.4));
}

void GnuplotScript::set_axis(char name, const Axis& axis) {
  if (axis.log) add(fmt::format("set logscale {} 10\nunset m{}tics\n", name, name));
  add(fmt::format("set {}range [{}:{}]\n", name, axis.range.low, axis.range.high));
  add(fmt::format("set {}tics ({})\n", name, gnuplot_ticks(axis)));
}

void GnuplotScript::data(const std::string& name, const std::vector<std::vector<double>>& rows) {
  add(fmt::format("${} << EOD\n", name));
  for (const std::vector<double>& row : rows) add(fmt::format("{}\n", fmt::join(row, " ")));
  add("EOD\n");
}

void GnuplotScript::series_data(std::size_t index) {
  std::vector<std::vector<double>> points;
  for (const FigurePoint& point : figure_.series[index].points) points.push_back({set_apart_(index, point.x), point.y});
  data(fmt::format("points{}", index), points);
}

/// The spread of a series, below its points.
void GnuplotScript::add_spreads(std::size_t index, std::string_view colour, std::vector<std::string>& parts) {
  const SpreadParts spreads = spread_parts(figure_, index);
  const auto row = [&](const FigurePoint& point) {
    return std::vector<double>{set_apart_(index, point.x), point.y, *point.spread};
  };
  std::vector<std::vector<double>> bands;
  for (const std::vector<FigurePoint>& band : spreads.bands) {
    if (!bands.empty()) bands.emplace_back();
    for (const FigurePoint& point : band) bands.push_back(row(point));
  }
  if (!bands.empty()) {
    data(fmt::format("bands{}", index), bands);
    parts.push_back(
        fmt::format("$bands{} using 1:($2-$3):($2+$3) with filledcurves fillstyle transparent solid 0.2 noborder "
                    "linecolor '{}' notitle",
                    index, colour));
  }
  std::vector<std::vector<double>> bars;
  for (const FigurePoint& point : spreads.bars) bars.push_back(row(point));
  if (bars.empty()) return;
  data(fmt::format("spreads{}", index), bars);
  parts.push_back(fmt::format("$spreads{} {} linecolor '{}' notitle", index, kErrorBar, colour));
}

void GnuplotScript::plot_series() {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < figure_.fronts.size(); ++i) {
    std::vector<std::vector<double>> corners;
    for (const auto& [x, y] : figure_.fronts[i].corners) corners.push_back({x, y});
    data(fmt::format("front{}", i), corners);
    parts.push_back(fmt::format("$front{} using 1:2 with lines linecolor '{}' linewidth 1.5 dashtype {} title {}", i,
                                kFrontColour, i + 1, gnuplot_string(figure_.fronts[i].label)));
  }
  for (std::size_t i = 0; i < figure_.series.size(); ++i) {
    const FigureSeries& series = figure_.series[i];
    series_data(i);
    const SeriesLook look = series_look(i);
    add_spreads(i, look.colour, parts);
    parts.push_back(fmt::format(
        "$points{} using 1:2 with {} linecolor '{}' linewidth 2 dashtype {} pointtype {} "
        "pointsize 1.2 title {}",
        i, style_of(series), look.colour, look.dashed ? 2 : 1, look.gnuplot_point, gnuplot_string(series.label)));
  }
  plot(parts);
}

void GnuplotScript::plot(const std::vector<std::string>& parts) { add("plot " + join(parts, ", \\\n     ") + "\n"); }

std::string series_script(const Figure& figure, PictureFormat format) {
  GnuplotScript script(figure, format);
  if (figure.x_names.empty()) script.set_x_axis();
  script.set_y_axis();
  script.name_x();
  script.plot_series();
  return script.text();
}

}  // namespace xlm
