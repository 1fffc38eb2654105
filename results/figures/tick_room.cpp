// Which ticks, names and numbers have room in a picture.
#include "results/figures/tick_room.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "base/text.h"
#include "results/figures/text_measure.h"

namespace xlm {
namespace {

constexpr double kGap = 0.6;          // between texts side by side, of their size
constexpr double kLineHeight = 1.25;  // of texts above each other

/// The place of a number on an axis, from 0 to `length`.
double place_on(const Axis& axis, double value, double length) {
  const auto scaled = [&](double x) { return axis.log ? std::log(x) : x; };
  return length * (scaled(value) - scaled(axis.range.low)) / (scaled(axis.range.high) - scaled(axis.range.low));
}

/// The ticks that remain: every `step`-th from `first` on.
std::vector<double> some_ticks(const std::vector<double>& ticks, std::size_t first, std::size_t step) {
  std::vector<double> kept;
  for (std::size_t i = first; i < ticks.size(); i += step) kept.push_back(ticks[i]);
  return kept;
}

/// Powers of ten among ticks.
std::vector<double> powers_of_ten(const std::vector<double>& ticks) {
  std::vector<double> powers;
  std::copy_if(ticks.begin(), ticks.end(), std::back_inserter(powers), [](double tick) {
    const double power = std::log10(tick);
    return std::abs(power - std::round(power)) < 1e-9;
  });
  return powers;
}

template <class Touches>
void thin(Axis& axis, const Touches& touches) {
  const std::vector<double> all = axis.ticks;
  if (all.size() < 2 || !touches(axis)) return;
  if (axis.log) {
    axis.ticks = powers_of_ten(all);
    if (axis.ticks.size() > 1 && !touches(axis)) return;
  }
  // A number at zero remains.
  const auto zero = std::find(all.begin(), all.end(), 0.0);
  for (std::size_t step = 2; step < all.size(); ++step) {
    const std::size_t first = zero == all.end() ? 0 : static_cast<std::size_t>(zero - all.begin()) % step;
    axis.ticks = some_ticks(all, first, step);
    if (!touches(axis)) return;
  }
  axis.ticks = {all.front(), all.back()};
  if (touches(axis)) axis.ticks = {all.front()};
}

bool is_number(const std::string& text) {
  double number = 0;
  return parse_real(text, number);
}

/// Of so many names, every so-manieth is shown if there is room.
std::size_t step_of_names(std::size_t count) {
  constexpr std::size_t kMaxNames = 40;
  constexpr std::size_t kNamesOfMany = 16;
  return count <= kMaxNames ? 1 : (count + kNamesOfMany - 1) / kNamesOfMany;
}

}  // namespace

void thin_ticks_on_x(Axis& axis, double length, double size) {
  thin(axis, [&](const Axis& tried) {
    const std::vector<std::string> texts = tick_texts(tried);
    for (std::size_t i = 1; i < texts.size(); ++i) {
      const double room = place_on(tried, tried.ticks[i], length) - place_on(tried, tried.ticks[i - 1], length);
      if (room < (text_width(texts[i], size) + text_width(texts[i - 1], size)) / 2 + kGap * size) return true;
    }
    return false;
  });
}

void thin_ticks_on_y(Axis& axis, double length, double size) {
  thin(axis, [&](const Axis& tried) {
    for (std::size_t i = 1; i < tried.ticks.size(); ++i) {
      const double room = place_on(tried, tried.ticks[i], length) - place_on(tried, tried.ticks[i - 1], length);
      if (room < kLineHeight * size) return true;
    }
    return false;
  });
}

void keep_some_names(std::vector<std::string>& names, std::size_t step) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if ((i + 1) % step != 0) names[i].clear();
  }
}

std::vector<std::string> some_of_many_names(std::vector<std::string> names) {
  keep_some_names(names, step_of_names(names.size()));
  return names;
}

NamesOnX level_or_upright_names(std::vector<std::string> names, double room, double size, bool may_drop) {
  NamesOnX result{.names = std::move(names), .size = size, .least_room = kLineHeight * size};
  const double length = widest_text(result.names, size);
  const auto touch = [&](std::size_t step) { return length + kGap * size > static_cast<double>(step) * room; };
  if (!touch(1)) return result;
  const bool numbers = std::all_of(result.names.begin(), result.names.end(), is_number);
  if (may_drop && (numbers || room < result.least_room)) {
    const std::size_t first_step = step_of_names(result.names.size());
    std::size_t step = first_step;
    while (step < result.names.size() && touch(step)) step += first_step;
    keep_some_names(result.names, step);
    return result;
  }
  result.upright = true;
  result.length = length;
  if (room < result.least_room) result.size = 0;
  return result;
}

bool has_long_tokens(const std::vector<std::string>& tokens) {
  return std::any_of(tokens.begin(), tokens.end(), [](const std::string& token) { return display_width(token) > 2; });
}

NamesOnX tokens_with_room(std::vector<std::string> tokens, double room, double size) {
  constexpr double kLevel = 0.66;  // room of a character, of its size
  constexpr double kUpright = 1.1;
  NamesOnX result{.names = std::move(tokens)};
  result.upright = has_long_tokens(result.names);
  std::size_t widest = 1;
  for (const std::string& token : result.names) widest = std::max(widest, display_width(token));
  const double share = result.upright ? kUpright : kLevel * static_cast<double>(widest);
  result.size = std::min(1.1 * size, room / share);
  result.least_room = 4.5 * share;
  for (const std::string& token : result.names)
    result.length = std::max(result.length, monospaced_width(token, result.size));
  return result;
}

double size_of_cells(const Figure& figure, double column, double row, double size) {
  const std::optional<int> digits = cell_digits(figure);
  if (!digits) return 0;
  double widest = 0;
  for (const std::vector<double>& cells : figure.grid) {
    for (const double cell : cells) {
      if (std::isfinite(cell)) widest = std::max(widest, text_width(fmt::format("{:.{}f}", cell, *digits), 1));
    }
  }
  return std::min({0.86 * size, (column - 2) / std::max(widest, 0.1), row / kLineHeight});
}

}  // namespace xlm
