// The style of figures.
#include "results/figures/plot_style.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/number_format.h"

namespace xlm {
namespace {

/// Okabe and Ito's colours, which people with any colour vision can tell apart. Their yellow is too pale for lines.
constexpr std::array<std::string_view, 7> kColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                   "#e69f00", "#56b4e9", "#000000"};
constexpr std::array<std::string_view, 7> kPlotlySymbols{"circle",  "square",      "triangle-up", "triangle-down",
                                                         "diamond", "square-open", "circle-open"};
constexpr std::array<std::string_view, 6> kPatterns{"", "/", "\\", "x", "-", "."};
constexpr std::size_t kMaxCellTexts = 240;
constexpr double kApart = 0.012;              // of an axis: error bars that are nearer overlap
constexpr double kMaxRoomApart = 0.6;         // of the room of a place with a name, for all its error bars
constexpr std::size_t kMaxMarkedPoints = 25;  // of a line; longer ones are drawn without marks
constexpr double kAsOneValue = 1e-9;          // of a value: smaller differences come from rounding
constexpr double kMaxTicksOfAxis = 20;        // of a linear axis, which usually has four to eight
constexpr int kMaxDecades = 12;               // of a logarithmic axis, each with a tick

using Scale = FigureDescription::Scale;

bool is_one_value(const Range& range) {
  return !(range.high - range.low > kAsOneValue * std::max(std::abs(range.low), std::abs(range.high)));
}

/// Adds room around the data, so that no point lies on the frame. Data without negative values stay above zero.
Range padded(Range range, bool log) {
  constexpr double kMax = std::numeric_limits<double>::max() / 4;  // so that their distance is finite, too
  range = {std::clamp(range.low, -kMax, kMax), std::clamp(range.high, -kMax, kMax)};
  if (log && range.low > 0) {
    constexpr double kLeast = std::numeric_limits<double>::min();
    range = {std::max(range.low, kLeast), std::max(range.high, kLeast)};
    const double margin = std::max(0.05 * (std::log(range.high) - std::log(range.low)), 0.1);
    return {std::max(range.low * std::exp(-margin), kLeast), std::min(range.high * std::exp(margin), kMax)};
  }
  const double value = range.high == 0 ? 1 : std::abs(range.high);
  const double size = is_one_value(range) ? value : range.high - range.low;
  const double low = range.low - 0.06 * size;
  return {range.low >= 0 ? std::max(low, 0.0) : low, range.high + 0.06 * size};
}

/// 1, 2 and 5 of every decade of a range above zero. If there are many decades, only 1, or that of some decades.
std::vector<double> round_numbers_of_decades(const Range& range) {
  const auto first = static_cast<int>(std::floor(std::log10(range.low)));
  const auto last = static_cast<int>(std::floor(std::log10(range.high)));
  const bool few = std::log10(range.high) - std::log10(range.low) < 3;
  std::vector<double> numbers;
  for (int decade = first; decade <= last; decade += 1 + (last - first) / kMaxDecades) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double number = std::pow(10.0, decade) * factor;
      if (number >= range.low && number <= range.high && (factor == 1 || few)) numbers.push_back(number);
    }
  }
  return numbers;
}

/// Four to eight round numbers in a range. On a logarithmic axis 1, 2 and 5 of every decade, or only the decades.
std::vector<double> round_numbers(const Range& range, bool log) {
  if (log && range.low > 0 && range.high / range.low >= 5) return round_numbers_of_decades(range);
  const double rough = (range.high - range.low) / 6;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10);
  const double first = std::ceil(range.low / step);
  const double count = std::floor(range.high / step + 1e-9) - first + 1;
  // Steps between almost equal numbers can be too small to count.
  if (is_one_value(range) || !(count <= kMaxTicksOfAxis)) return {range.low, range.high};
  std::vector<double> numbers;
  for (int i = 0; i < static_cast<int>(count); ++i) numbers.push_back((first + i) * step);
  return numbers;
}

/// Whether ticks on a linear axis are so close that their texts would touch.
bool are_crowded(const std::vector<double>& ticks, const Range& range) {
  for (std::size_t i = 1; i < ticks.size(); ++i) {
    if (ticks[i] - ticks[i - 1] < 0.06 * (range.high - range.low)) return true;
  }
  return false;
}

/// The fewest decimals that show every number of a linear axis. Returns nullopt if six are not enough.
std::optional<int> common_digits(const std::vector<double>& numbers) {
  double largest = 0;
  for (const double number : numbers) largest = std::max(largest, std::abs(number));
  for (int digits = 0; digits <= 6; ++digits) {
    const double power = std::pow(10.0, digits);
    const bool enough = std::ranges::all_of(numbers, [&](double number) {
      return std::abs(std::round(number * power) - number * power) <= 1e-9 * largest * power;
    });
    if (enough) return digits;
  }
  return std::nullopt;
}

/// The range of the data with some room.
Axis fitted(const Range& data, Scale scale, const std::vector<double>& given_ticks) {
  Axis axis;
  axis.log = scale == Scale::kLog && data.low > 0;
  axis.range = padded(data, axis.log);
  const bool own = given_ticks.empty() || (!axis.log && are_crowded(given_ticks, axis.range));
  axis.ticks = own ? round_numbers(axis.range, axis.log) : given_ticks;
  return axis;
}

Range range_of_cells(const Figure& figure) {
  Range range;
  for (const std::vector<double>& row : figure.grid) {
    for (const double value : row) range.include(value);
  }
  return range;
}

/// Whether error bars of different series are so near on an axis of numbers that they hide each other.
bool bars_overlap(const Figure& figure) {
  const Axis axis = x_axis(figure);
  const auto scaled = [&](double x) { return axis.log ? std::log(x) : x; };
  const double near = kApart * (scaled(axis.range.high) - scaled(axis.range.low));
  std::vector<std::pair<double, std::size_t>> bars;  // place on the axis, series
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    for (const FigurePoint& point : figure.series[i].points) {
      if (point.spread) bars.emplace_back(scaled(point.x), i);
    }
  }
  std::ranges::sort(bars);
  return std::ranges::adjacent_find(bars, [&](const auto& a, const auto& b) {
           return a.second != b.second && b.first - a.first < near;
         }) != bars.end();
}

}  // namespace

SeriesLook series_look(std::size_t index) {
  const std::size_t place = index % kColours.size();
  const std::size_t turn = index / kColours.size();
  return {.colour = kColours[place],
          .dashed = turn > 0,
          .symbol = kPlotlySymbols[(place + turn) % kPlotlySymbols.size()],
          .pattern = kPatterns[turn % kPatterns.size()]};
}

std::string_view mark_colour(const Figure& figure, std::size_t index) {
  return figure.series.size() == 1 ? kMarkColour : series_look(figure.series[index].look).colour;
}

void Range::include(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

Axis x_axis(const Figure& figure) {
  Range range;
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) range.include(point.x);
  }
  return fitted(range, figure.description.x_scale, figure.x_ticks);
}

Axis y_axis(const Figure& figure) {
  Range range;
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) {
      range.include(point.y - point.spread.value_or(0));
      range.include(point.y + point.spread.value_or(0));
    }
  }
  const bool log = figure.description.y_scale == Scale::kLog && range.low > 0;
  if (figure.has_bars && !log) range.include(0);
  return fitted(range, figure.description.y_scale, {});
}

Axis colour_axis(const Figure& figure) {
  Axis axis;
  axis.range = range_of_cells(figure);
  axis.log = figure.description.y_scale == Scale::kLog && axis.range.low > 0;
  if (is_one_value(axis.range)) axis.range = padded(axis.range, axis.log);  // a single value has no scale
  axis.ticks = round_numbers(axis.range, axis.log);
  return axis;
}

std::vector<std::string> lost_logarithms(const Figure& figure) {
  const FigureDescription& description = figure.description;
  std::vector<std::string> lines;
  const auto add = [&](std::string_view axis) {
    lines.push_back(
        fmt::format("the figure '{}' is linear despite {}_scale: a value or the end of an error bar is zero or less, "
                    "which has no logarithm",
                    description.title, axis));
  };
  const bool has_cells = !figure.grid.empty();
  const bool x_is_linear = !has_cells && figure.x_names.empty() && !x_axis(figure).log;
  if (description.x_scale == Scale::kLog && x_is_linear) add("x");
  const bool y_is_linear = !(has_cells ? colour_axis(figure) : y_axis(figure)).log;
  if (description.y_scale == Scale::kLog && y_is_linear) add("y");
  return lines;
}

std::vector<std::string> tick_texts(const Axis& axis) {
  const auto scaled = [](double value) {
    const auto [number, prefix] = with_prefix(value, 999.5);
    return fmt::format("{:.4g}{}", number, prefix);
  };
  const std::optional<int> digits = axis.log ? std::nullopt : common_digits(axis.ticks);
  std::vector<std::string> texts;
  for (const double tick : axis.ticks) {
    texts.push_back(std::abs(tick) >= 1e4 ? scaled(tick)
                    : digits              ? fmt::format("{:.{}f}", tick, *digits)
                                          : fmt::format("{:.6g}", tick));
  }
  constexpr int kMaxDigits = 17;  // enough to tell all numbers apart
  for (int more = 7; more <= kMaxDigits && std::ranges::adjacent_find(texts) != texts.end(); ++more) {
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i] = fmt::format("{:.{}g}", axis.ticks[i], more);
  }
  return texts;
}

std::string value_text(double value) {
  const bool whole = value == std::floor(value) || std::abs(value) >= 1e5;
  return whole && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value) : with_digits(value, 6);
}

SetApart::SetApart(const Figure& figure) {
  std::map<double, int> bars;  // at a place on x
  for (const FigureSeries& series : figure.series) {
    of_series_.push_back(is_long(series) || !has_spread(series) ? 0 : count_ += 1);
    for (const FigurePoint& point : series.points) {
      if (of_series_.back() > 0 && point.spread) ++bars[point.x];
    }
  }
  if (figure.x_names.empty() || !figure.fronts.empty()) return;
  if (std::ranges::none_of(bars, [](const auto& place) { return place.second > 1; })) return;
  step_ = std::min(kApart * static_cast<double>(figure.x_names.size()), kMaxRoomApart / count_);
}

double SetApart::operator()(std::size_t series, double x) const {
  return of_series_[series] == 0 ? x : x + step_ * (of_series_[series] - 0.5 * (count_ + 1));
}

SpreadParts spread_parts(const Figure& figure, std::size_t series) {
  const FigureSeries& line = figure.series[series];
  SpreadParts parts;
  const bool as_band = line.joined && (is_long(line) || (figure.x_names.empty() && bars_overlap(figure)));
  std::vector<FigurePoint> neighbours;
  const auto end_part = [&] {
    if (as_band && neighbours.size() > 1) {
      parts.bands.push_back(std::move(neighbours));
    } else {
      parts.bars.insert(parts.bars.end(), neighbours.begin(), neighbours.end());
    }
    neighbours.clear();
  };
  for (const FigurePoint& point : line.points) {
    if (point.spread) {
      neighbours.push_back(point);
    } else {
      end_part();
    }
  }
  end_part();
  return parts;
}

bool is_long(const FigureSeries& series) { return series.is_curve || series.points.size() > kMaxMarkedPoints; }

bool has_legend(const Figure& figure) {
  return figure.description.legend != FigureDescription::Legend::kNone &&
         (figure.series.size() > 1 || !figure.fronts.empty());
}

bool has_spread(const FigureSeries& series) {
  return std::ranges::any_of(series.points, [](const FigurePoint& point) { return point.spread.has_value(); });
}

bool has_cell_texts(const Figure& figure) {
  return !figure.grid.empty() && figure.grid.size() * figure.grid.front().size() <= kMaxCellTexts;
}

std::string cell_text(const Figure& figure, double value) {
  const auto is_whole = [](double one) { return !std::isfinite(one) || one == std::floor(one); };
  const bool whole = std::ranges::all_of(
      figure.grid, [&](const std::vector<double>& row) { return std::ranges::all_of(row, is_whole); });
  const double size = std::abs(value);
  if (whole || size >= 100) return fmt::format("{:.0f}", value);
  if (size >= 10) return fmt::format("{:.1f}", value);
  if (size < 0.01 && size > 0) return with_digits(value, 2);
  const Range range = colour_axis(figure).range;
  return fmt::format("{:.{}f}", value, range.high - range.low < 0.2 ? 3 : 2);
}

}  // namespace xlm
