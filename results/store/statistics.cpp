// Means, deviations and quantiles, and how several runs become one number.
#include "results/store/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace xlm {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> sample_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  // The mean of equal numbers may be rounded, which would leave a spread of 1e-16.
  if (std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end()) return 0;
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double aggregated(const std::vector<double>& values, Aggregate aggregate) {
  return aggregate == Aggregate::kMean ? mean(values) : median(values);
}

}  // namespace xlm
