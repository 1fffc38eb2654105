// A comparison of the parts of a text.
#include "results/judgement/part_comparison.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numbers>

#include "results/judgement/student.h"

namespace xlm {
namespace {

/// The variance of the sum of a series over its length, as its longest waves show it. `waves`: how many.
double variance_of_long_waves(const std::vector<double>& series, int waves) {
  const auto length = static_cast<double>(series.size());
  double squares = 0;
  for (int wave = 1; wave <= waves; ++wave) {
    double sum = 0;
    for (std::size_t i = 0; i < series.size(); ++i) {
      sum += series[i] * std::cos(std::numbers::pi * wave * (static_cast<double>(i) + 0.5) / length);
    }
    squares += 2 * sum * sum / length;
  }
  return squares / waves;
}

}  // namespace

PartComparison compare_parts(const std::vector<double>& a, const std::vector<double>& b,
                             const std::vector<std::int64_t>& tokens, double level) {
  double difference = 0;
  double all_tokens = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == 0) continue;
    difference += a[i] - b[i];
    all_tokens += static_cast<double>(tokens[i]);
  }
  difference /= all_tokens;
  std::vector<double> residuals;  // of the ratio of both sums
  double squares = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == 0) continue;
    residuals.push_back(a[i] - b[i] - difference * static_cast<double>(tokens[i]));
    squares += residuals.back() * residuals.back();
  }
  constexpr int kLeastWaves = 4;
  const auto count = static_cast<double>(residuals.size());
  const int waves = std::max(kLeastWaves, static_cast<int>(0.4 * std::pow(count, 2.0 / 3)));
  const double of_waves = variance_of_long_waves(residuals, waves);
  const double of_single = count > 1 ? squares / (count - 1) : 0;
  const bool are_alike = of_waves > of_single;  // neighbours
  const double freedom = are_alike ? waves : std::max(1.0, count - 1);
  const double error = std::sqrt(std::max(of_waves, of_single) * count) / all_tokens;
  const double half = student_factor(level, freedom) * error;
  const double certain = difference == 0 ? 1 : 0;
  return {.parts = std::ssize(residuals),
          .effective = are_alike ? count * of_single / of_waves : count,
          .freedom = freedom,
          .difference = difference,
          .low = difference - half,
          .high = difference + half,
          .p = error > 0 ? student_p(difference / error, freedom) : certain};
}

}  // namespace xlm
