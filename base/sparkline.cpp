// Numbers as a line of small bars.
#include "base/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace xlm {
namespace {

constexpr std::array<std::string_view, 8> kBars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/// Means of as many parts of the same length, without what is not finite; NaN for a part of nothing else.
std::vector<double> means_of_parts(const std::vector<double>& values, std::size_t parts) {
  std::vector<double> means;
  for (std::size_t part = 0; part < parts; ++part) {
    double sum = 0;
    double count = 0;
    for (std::size_t i = part * values.size() / parts; i < (part + 1) * values.size() / parts; ++i) {
      if (!std::isfinite(values[i])) continue;
      sum += values[i];
      count += 1;
    }
    means.push_back(count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN());
  }
  return means;
}

}  // namespace

std::string sparkline(const std::vector<double>& values, std::size_t most) {
  if (values.size() < 2 || most == 0) return "";
  const std::vector<double> means = means_of_parts(values, std::min(values.size(), most));
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double value : means) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) return "";
  constexpr auto kHighest = static_cast<double>(kBars.size() - 1);
  std::string line;
  for (const double value : means) {
    if (!std::isfinite(value)) {
      line += ' ';
      continue;
    }
    const double height = high > low ? (value - low) / (high - low) * kHighest : kHighest / 2;
    line += kBars.at(static_cast<std::size_t>(std::lround(height)));
  }
  return line;
}

}  // namespace xlm
