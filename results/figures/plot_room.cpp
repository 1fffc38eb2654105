// Where a plot has room for texts.
#include "results/figures/plot_room.h"

#include <algorithm>
#include <cmath>

#include "results/figures/layout_parts.h"

namespace xlm {
namespace {

constexpr double kShareOfBar = 0.94;  // of the room of a bar
constexpr int kPlacesOnLine = 24;     // between two points, and along a bar

int places_in(const Box& box, const Spot& from, const Spot& to) {
  int count = 0;
  for (int i = 0; i <= kPlacesOnLine; ++i) {
    const double share = static_cast<double>(i) / kPlacesOnLine;
    const double x = from.x + share * (to.x - from.x);
    const double y = from.y + share * (to.y - from.y);
    count += x >= box.left && x <= box.right && y >= box.bottom && y <= box.top ? 1 : 0;
  }
  return count;
}

}  // namespace

bool boxes_touch(const Box& a, const Box& b) {
  return std::min(a.right, b.right) > std::max(a.left, b.left) && std::min(a.top, b.top) > std::max(a.bottom, b.bottom);
}

double margin_of_names(const Figure& figure) { return !figure.grid.empty() ? 0.5 : figure.tokens_on_x ? 1 : 0.6; }

BarEnds ends_of_bar(const Figure& figure, std::size_t series, double x) {
  const double width = kBarsWidth / static_cast<double>(figure.series.size());
  const double middle = x + (static_cast<double>(series) + 0.5) * width - kBarsWidth / 2;
  const double half = kShareOfBar * width / 2;
  return {middle - half, middle + half};
}

double share_of(const Axis& axis, double value) {
  if (axis.log && value <= 0) return 0;
  const auto scaled = [&](double number) { return axis.log ? std::log(number) : number; };
  return (scaled(value) - scaled(axis.range.low)) / (scaled(axis.range.high) - scaled(axis.range.low));
}

Spot spot_of(const Figure& figure, const FigureLayout& layout, double x, double y) {
  const auto names = static_cast<double>(figure.x_names.size());
  const double margin = margin_of_names(figure);
  const double share = figure.x_names.empty() ? share_of(layout.x, x) : (x + margin) / (names - 1 + 2 * margin);
  return {layout.plot.left + share * layout.plot.width(),
          layout.plot.bottom + share_of(layout.y, y) * layout.plot.height()};
}

int data_in(const Figure& figure, const FigureLayout& layout, const Box& box) {
  int count = 0;
  for (std::size_t index = 0; index < figure.series.size(); ++index) {
    const FigureSeries& series = figure.series[index];
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const FigurePoint& point = series.points[i];
      const double spread = point.spread.value_or(0);
      const Spot top = spot_of(figure, layout, point.x, point.y + spread);
      const Spot bottom = spot_of(figure, layout, point.x, point.y - spread);
      if (figure.has_bars) {
        const BarEnds bar = ends_of_bar(figure, index, point.x);
        const Box drawn{spot_of(figure, layout, bar.left, 0).x, spot_of(figure, layout, bar.right, 0).x,
                        layout.plot.bottom, top.y};
        count += boxes_touch(box, drawn) ? kPlacesOnLine : 0;
        continue;
      }
      count += places_in(box, bottom, top);
      if (!series.joined || i == 0) continue;
      const FigurePoint& before = series.points[i - 1];
      count += places_in(box, spot_of(figure, layout, before.x, before.y), spot_of(figure, layout, point.x, point.y));
    }
  }
  for (const FigureFront& front : figure.fronts) {
    for (std::size_t i = 1; i < front.corners.size(); ++i) {
      const auto& [x0, y0] = front.corners[i - 1];
      const auto& [x1, y1] = front.corners[i];
      count += places_in(box, spot_of(figure, layout, x0, y0), spot_of(figure, layout, x1, y1));
    }
  }
  const Box& plot = layout.plot;
  for (const PlacedLine& line : layout.references) {
    count += line.upright ? places_in(box, {line.place, plot.bottom}, {line.place, plot.top})
                          : places_in(box, {plot.left, line.place}, {plot.right, line.place});
  }
  return count;
}

std::optional<Box> empty_box(const Figure& figure, const FigureLayout& layout, const std::vector<Box>& boxes) {
  for (const Box& box : boxes) {
    if (data_in(figure, layout, box) == 0) return box;
  }
  return std::nullopt;
}

std::optional<Box> box_for_text(const Figure& figure, const FigureLayout& layout, const std::vector<Box>& boxes) {
  const auto is_taken = [&](const Box& box) {
    const double half = layout.text_size / 2;
    return std::any_of(layout.texts.begin(), layout.texts.end(),
                       [&](const PlacedText& text) { return boxes_touch(box, box_of(text)); }) ||
           std::any_of(layout.samples.begin(), layout.samples.end(), [&](const PlacedSample& sample) {
             return boxes_touch(box, {sample.x, sample.x + sample.width, sample.y - half, sample.y + half});
           });
  };
  std::optional<Box> best;
  int least = 0;
  for (const Box& box : boxes) {
    if (is_taken(box)) continue;
    const int data = data_in(figure, layout, box);
    if (best && data >= least) continue;
    best = box;
    least = data;
  }
  return best;
}

}  // namespace xlm
