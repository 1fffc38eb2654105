// Parts of gnuplot scripts.
#include "results/figures/gnuplot_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "results/figures/plot_room.h"
#include "results/sheets/latex.h"

namespace xlm {
namespace {

constexpr double kDotsPerInch = 119;  // of an SVG; a PNG has twice as many

/// Dots of a picture in one point, the unit of a layout.
double dots_per_point(PictureFormat format) {
  switch (format) {
    case PictureFormat::kSvg:
      return kDotsPerInch / kPointsPerInch;
    case PictureFormat::kPng:
      return 2 * kDotsPerInch / kPointsPerInch;
    case PictureFormat::kPdf:
    case PictureFormat::kTex:
      break;
  }
  return 1;
}

/// A font of the document that the picture becomes a part of.
std::string tex_font(double points, bool monospaced) {
  return fmt::format("font '{}\\fontsize{{{:.3g}}}{{{:.3g}}}\\selectfont'", monospaced ? "\\ttfamily" : "", points,
                     1.2 * points);
}

/// Cairo draws a font of a size in dots of 1/96 inch: three quarters of them make it a size of the picture.
std::string terminal_of(const std::string& own_font, const FigureLayout& layout, PictureFormat format) {
  const auto dots = [&](double points) { return std::lround(points * dots_per_point(format) / 10) * 10; };
  const std::string font = own_font.empty() ? "DejaVu Sans" : own_font;
  const double size = layout.text_size * dots_per_point(format);
  switch (format) {
    case PictureFormat::kSvg:
      return fmt::format("set terminal svg size {},{} enhanced font '{},{:.3g}' background '#ffffff'\n",
                         dots(layout.width), dots(layout.height),
                         own_font.empty() ? "DejaVu Sans,Helvetica,sans-serif" : own_font, size);
    case PictureFormat::kPdf:
      return fmt::format(
          "set terminal pdfcairo size {:.4g},{:.4g} enhanced font '{},{:.3g}' fontscale 0.75 linewidth 2 pointscale "
          "0.6\n",
          layout.width / kPointsPerInch, layout.height / kPointsPerInch, font, size);
    case PictureFormat::kPng:
      return fmt::format(
          "set terminal pngcairo size {},{} enhanced font '{},{:.3g}' fontscale 0.75 linewidth 2 pointscale 1.8 "
          "background '#ffffff'\n",
          dots(layout.width), dots(layout.height), font, size);
    case PictureFormat::kTex:
      return fmt::format("set terminal tikz size {:.4g}in,{:.4g}in {}\n", layout.width / kPointsPerInch,
                         layout.height / kPointsPerInch, tex_font(size, false));
  }
  return "";
}

/// Frame, grid and margins.
std::string looks_of(const FigureLayout& layout) {
  std::string text =
      fmt::format("set border 3 linecolor '{}'\nset tics nomirror out scale 0.5 textcolor '#333333'\n", kFrameColour);
  text += fmt::format("set grid linecolor '{}' linetype 1 linewidth 0.8\nunset key\nset clip two\n", kGridColour);
  const Box& plot = layout.plot;
  return text +
         fmt::format("set lmargin at screen {:.5g}\nset rmargin at screen {:.5g}\n", plot.left / layout.width,
                     plot.right / layout.width) +
         fmt::format("set bmargin at screen {:.5g}\nset tmargin at screen {:.5g}\n", plot.bottom / layout.height,
                     plot.top / layout.height);
}

/// Ticks without texts, which are labels.
std::vector<std::string> bare_ticks(const std::vector<double>& places) {
  std::vector<std::string> ticks;
  for (const double place : places) ticks.push_back(fmt::format("'' {}", place));
  return ticks;
}

/// Long series have lines without points.
bool has_points(const FigureSeries& series) { return !series.joined || !is_long(series); }

std::string_view style_of(const FigureSeries& series) {
  if (!series.joined) return "points";
  return has_points(series) ? "linespoints" : "lines";
}

}  // namespace

std::string gnuplot_string(std::string_view text) {
  // gnuplot 5.4 takes an apostrophe at the beginning of a text in apostrophes for its end.
  const std::size_t first = std::min(text.find_first_not_of('\''), text.size());
  std::string quoted = first == 0 ? "" : "\"" + std::string(first, '\'') + "\".";
  quoted += '\'';
  for (const char c : text.substr(first)) {
    if (c == '\'') {
      quoted += "''";
    } else {
      quoted += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return quoted + "'";
}

std::string GnuplotScript::font(double points, bool monospaced) const {
  if (format_ == PictureFormat::kTex) return tex_font(points, monospaced);
  return fmt::format("font '{},{:.3g}'", monospaced ? "DejaVu Sans Mono" : "", points * dots_per_point(format_));
}

std::string GnuplotScript::shown(std::string_view text) const {
  return gnuplot_string(format_ == PictureFormat::kTex ? latex_escape(text) : text);
}

std::string gnuplot_terminal(const Figure& figure, const FigureLayout& layout, PictureFormat format) {
  return terminal_of(figure.description.font, layout, format) + "set encoding utf8\n";
}

GnuplotScript::GnuplotScript(const Figure& figure, const FigureLayout& layout, PictureFormat format)
    : figure_(figure), layout_(layout), format_(format), set_apart_(figure) {
  add(looks_of(layout_));
  place_texts();
  for (const PlacedSample& sample : layout_.samples) place_sample(sample);
  place_references();
}

/// A place of the layout, in gnuplot's words.
std::string GnuplotScript::at(double x, double y) const {
  return fmt::format("screen {:.5g},{:.5g}", x / layout_.width, y / layout_.height);
}

void GnuplotScript::place_texts() {
  constexpr std::array<std::string_view, 3> kAnchors{"left", "center", "right"};
  for (const PlacedText& text : layout_.texts) {
    add(fmt::format("set label {} at {} {} {}noenhanced {} textcolor '{}'\n", shown(text.text), at(text.x, text.y),
                    kAnchors.at(static_cast<std::size_t>(text.anchor)), text.upright ? "rotate by 90 " : "",
                    font(text.size, text.monospaced), text.colour));
  }
}

/// A sample of the legend: a line, a mark, or both; of bars a box.
void GnuplotScript::place_sample(const PlacedSample& sample) {
  const double right = sample.x + sample.width;
  const std::string line = fmt::format("set arrow from {} to {} nohead ", at(sample.x, sample.y), at(right, sample.y));
  if (sample.entry.is_front) {
    return add(line + fmt::format("linecolor '{}' linewidth {:.3g} dashtype {}\n", kFrontColour, line_width(1.5),
                                  sample.entry.index + 1));
  }
  const FigureSeries& series = figure_.series[sample.entry.index];
  const SeriesLook look = series_look(series.look);
  if (figure_.has_bars) {
    const double half = 0.35 * layout_.text_size;
    return add(fmt::format("set object rectangle from {} to {} fillcolor rgb '{}' fillstyle solid 0.85 noborder\n",
                           at(sample.x, sample.y - half), at(right, sample.y + half), look.colour));
  }
  if (series.joined)
    add(line +
        fmt::format("linecolor '{}' linewidth {:.3g} dashtype {}\n", look.colour, line_width(2), look.dashed ? 2 : 1));
  if (series.joined && is_long(series)) return;
  add(fmt::format("set label '' at {} point linecolor rgb '{}' pointtype {} pointsize {:.3g}\n",
                  at(sample.x + sample.width / 2, sample.y), look.colour, look.gnuplot_point, mark_size()));
}

void GnuplotScript::place_references() {
  const Box& plot = layout_.plot;
  for (const PlacedLine& line : layout_.references) {
    const std::string ends = line.upright
                                 ? fmt::format("from {} to {}", at(line.place, plot.bottom), at(line.place, plot.top))
                                 : fmt::format("from {} to {}", at(plot.left, line.place), at(plot.right, line.place));
    add(fmt::format("set arrow {} nohead back linecolor '{}' linewidth {:.3g} dashtype 2\n", ends, kReferenceColour,
                    line_width(1.2)));
  }
}

void GnuplotScript::place_colour_bar() {
  const Box& bar = layout_.colour_bar;
  add(fmt::format("set colorbox user origin {} size {}\n", at(bar.left, bar.bottom), at(bar.width(), bar.height())));
}

void GnuplotScript::name_x() {
  if (layout_.x_names.empty()) return;
  const double margin = margin_of_names(figure_);
  std::vector<double> places;
  for (std::size_t i = 0; i < layout_.x_names.size(); ++i) places.push_back(static_cast<double>(i));
  add(fmt::format("set xtics {}({})\n", figure_.tokens_on_x ? "scale 0 " : "", join(bare_ticks(places), ", ")));
  add(fmt::format("set xrange [{}:{}]\n", -margin, static_cast<double>(layout_.x_names.size()) - 1 + margin));
}

void GnuplotScript::set_axis(char name, const Axis& axis) {
  if (axis.log) add(fmt::format("set logscale {} 10\nunset m{}tics\n", name, name));
  add(fmt::format("set {}range [{}:{}]\n", name, axis.range.low, axis.range.high));
  add(fmt::format("set {}tics ({})\n", name, join(bare_ticks(axis.ticks), ", ")));
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
    parts.push_back(fmt::format("$front{} using 1:2 with lines linecolor '{}' linewidth {:.3g} dashtype {} notitle", i,
                                kFrontColour, line_width(1.5), i + 1));
  }
  for (std::size_t i = 0; i < figure_.series.size(); ++i) {
    const FigureSeries& series = figure_.series[i];
    series_data(i);
    const SeriesLook look = series_look(series.look);
    add_spreads(i, look.colour, parts);
    parts.push_back(fmt::format(
        "$points{} using 1:2 with {} linecolor '{}' linewidth {:.3g} dashtype {} {} notitle", i, style_of(series),
        look.colour, line_width(2), look.dashed ? 2 : 1,
        has_points(series) ? fmt::format("pointtype {} pointsize {:.3g}", look.gnuplot_point, mark_size()) : ""));
  }
  plot(parts);
}

void GnuplotScript::plot(const std::vector<std::string>& parts) { add("plot " + join(parts, ", \\\n     ") + "\n"); }

std::string frame_script(const Figure& figure, const FigureLayout& layout, PictureFormat format) {
  GnuplotScript script(figure, layout, format);
  script.add("unset border\nunset tics\n");
  script.plot({"[0:1] [0:1] 2 notitle"});  // beyond the range: gnuplot draws texts only with a plot
  return script.text();
}

std::string series_script(const Figure& figure, const FigureLayout& layout, PictureFormat format) {
  GnuplotScript script(figure, layout, format);
  if (figure.x_names.empty()) script.set_x_axis();
  script.set_y_axis();
  script.name_x();
  script.plot_series();
  return script.text();
}

}  // namespace xlm
