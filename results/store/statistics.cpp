// The few statistics that tables need.
#include "results/store/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace xlm {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> sample_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  // The mean of equal numbers may be rounded, which would leave a spread of 1e-16.
  if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end()) return 0;
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
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::optional<double> paired_t_test(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 2) return std::nullopt;
  std::vector<double> differences(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) differences[i] = a[i] - b[i];
  const double centre = mean(differences);
  const double error = *sample_deviation(differences) / std::sqrt(static_cast<double>(a.size()));
  if (error == 0) return centre == 0 ? 1.0 : 0.0;
  const boost::math::students_t distribution(static_cast<double>(a.size() - 1));
  return 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(centre / error)));
}

std::optional<double> half_interval(const std::vector<double>& values, double level) {
  const std::optional<double> deviation = sample_deviation(values);
  if (!deviation) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  const boost::math::students_t distribution(count - 1);
  return boost::math::quantile(boost::math::complement(distribution, (1 - level) / 2)) * *deviation / std::sqrt(count);
}

PairedComparison compare_pairs(const std::vector<double>& a, const std::vector<double>& b, double level) {
  std::vector<double> differences(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) differences[i] = a[i] - b[i];
  PairedComparison result{.pairs = static_cast<std::int64_t>(a.size()), .difference = mean(differences)};
  result.half_width = half_interval(differences, level);
  result.p = paired_t_test(a, b);
  const std::optional<double> deviation = sample_deviation(differences);
  if (deviation && *deviation > 0) result.effect = result.difference / *deviation;
  return result;
}

UnpairedComparison compare_unpaired(const std::vector<double>& a, const std::vector<double>& b, double level) {
  UnpairedComparison result{.difference = mean(a) - mean(b)};
  if (a.size() < 2 || b.size() < 2) return result;
  const double variance_of_a = *sample_deviation(a) * *sample_deviation(a);
  const double variance_of_b = *sample_deviation(b) * *sample_deviation(b);
  const double of_a = variance_of_a / static_cast<double>(a.size());
  const double of_b = variance_of_b / static_cast<double>(b.size());
  const double squares =
      of_a * of_a / static_cast<double>(a.size() - 1) + of_b * of_b / static_cast<double>(b.size() - 1);
  result.error = std::sqrt(of_a + of_b);
  result.freedom =
      squares > 0 ? (of_a + of_b) * (of_a + of_b) / squares : static_cast<double>(std::min(a.size(), b.size()) - 1);
  if (result.error == 0) {
    result.half_width = 0;
    result.p = result.difference == 0 ? 1.0 : 0.0;
    return result;
  }
  const boost::math::students_t distribution(result.freedom);
  result.half_width = boost::math::quantile(boost::math::complement(distribution, (1 - level) / 2)) * result.error;
  result.p = 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(result.difference / result.error)));
  result.effect = result.difference / std::sqrt((variance_of_a + variance_of_b) / 2);
  return result;
}

std::optional<SpreadEstimate> spread_of(const std::vector<double>& values) {
  const std::optional<double> deviation = sample_deviation(values);
  if (!deviation) return std::nullopt;
  return SpreadEstimate{*deviation, static_cast<double>(values.size()) - 1};
}

std::optional<SpreadEstimate> pooled_spread(const std::vector<SpreadEstimate>& samples) {
  double squares = 0;
  double freedom = 0;
  for (const SpreadEstimate& sample : samples) {
    squares += sample.freedom * sample.deviation * sample.deviation;
    freedom += sample.freedom;
  }
  if (freedom == 0) return std::nullopt;
  return SpreadEstimate{std::sqrt(squares / freedom), freedom};
}

std::optional<double> equal_spread_test(const std::vector<SpreadEstimate>& samples) {
  if (samples.size() < 2) return std::nullopt;
  const auto constant =
      std::count_if(samples.begin(), samples.end(), [](const SpreadEstimate& sample) { return sample.deviation == 0; });
  if (constant > 0) return static_cast<std::size_t>(constant) == samples.size() ? 1.0 : 0.0;
  double logarithms = 0;  // Σ νᵢ·ln sᵢ²
  double inverses = 0;    // Σ 1/νᵢ
  for (const SpreadEstimate& sample : samples) {
    logarithms += sample.freedom * 2 * std::log(sample.deviation);
    inverses += 1 / sample.freedom;
  }
  const SpreadEstimate common = *pooled_spread(samples);
  const double between = static_cast<double>(samples.size()) - 1;
  const double correction = 1 + (inverses - 1 / common.freedom) / (3 * between);
  const double statistic = (common.freedom * 2 * std::log(common.deviation) - logarithms) / correction;
  const boost::math::chi_squared distribution(between);
  return boost::math::cdf(boost::math::complement(distribution, std::max(0.0, statistic)));
}

std::optional<std::int64_t> least_seeds(std::int64_t present, const std::function<bool(std::int64_t seeds)>& decides) {
  constexpr std::int64_t kMaxSeeds = 10'000;
  std::int64_t too_few = present;
  std::int64_t enough = std::max<std::int64_t>(present + 1, 2);
  while (!decides(enough)) {
    if (enough >= kMaxSeeds) return std::nullopt;
    too_few = enough;
    enough = std::min(2 * enough, kMaxSeeds);
  }
  while (enough - too_few > 1) {
    const std::int64_t middle = too_few + (enough - too_few) / 2;
    (decides(middle) ? enough : too_few) = middle;
  }
  return enough;
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  std::vector<double> corrected(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto tests_left = static_cast<double>(p.size() - rank);
    largest = std::min(1.0, std::max(largest, tests_left * p[order[rank]]));
    corrected[order[rank]] = largest;
  }
  return corrected;
}

}  // namespace xlm
