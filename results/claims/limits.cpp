// Whether an uncertain number lies between limits.
#include "results/claims/limits.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "results/store/statistics.h"

namespace xlm {
namespace {

constexpr double kLevel = 0.95;
constexpr double kChance = 0.8;

double t_of_level(double freedom) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), (1 - kLevel) / 2));
}

double distance_to_nearest(double value, const Limits& limits) {
  return std::min(std::abs(value - limits.low), std::abs(value - limits.high));
}

/// The chance that the interval of `seeds` seeds stays on this side of a limit that is so far away.
double chance_to_stay(double distance, double deviation, double freedom, double seeds) {
  if (std::isinf(distance)) return 1;
  const double shift = distance / (deviation / std::sqrt(seeds));
  constexpr double kCertain = 35;  // beyond it the distribution function loses its digits, and the chance is 1
  if (shift > kCertain) return 1;
  const double t = t_of_level(freedom);
  return boost::math::cdf(boost::math::complement(boost::math::non_central_t(freedom, shift), t));
}

double chance_to_decide(double value, double deviation, double freedom, double seeds, const Limits& limits) {
  if (!limits.contain(value)) {
    return chance_to_stay(distance_to_nearest(value, limits), deviation, freedom, seeds);
  }
  const double below = 1 - chance_to_stay(value - limits.low, deviation, freedom, seeds);
  const double above = 1 - chance_to_stay(limits.high - value, deviation, freedom, seeds);
  return 1 - below - above;
}

}  // namespace

bool Limits::contain(double value) const { return open ? value > low && value < high : value >= low && value <= high; }

Estimate estimate_of(const std::vector<double>& by_seed) {
  const auto count = static_cast<double>(by_seed.size());
  Estimate estimate{.value = mean(by_seed), .freedom = count - 1, .seeds = std::ssize(by_seed)};
  if (const auto deviation = sample_deviation(by_seed)) estimate.error = *deviation / std::sqrt(count);
  return estimate;
}

Estimate difference_of_means(const std::vector<double>& a, const std::vector<double>& b) {
  const UnpairedComparison compared = compare_unpaired(a, b, kLevel);
  return {.value = compared.difference,
          .error = compared.error,
          .freedom = compared.freedom,
          .seeds = std::min(std::ssize(a), std::ssize(b))};
}

LimitsTest test_limits(const Estimate& estimate, const Limits& limits) {
  LimitsTest test;
  if (!estimate.is_exact && estimate.freedom <= 0) return test;
  const double half = estimate.error > 0 ? t_of_level(estimate.freedom) * estimate.error : 0;
  test.half_width = half;
  if (limits.contain(estimate.value - half) && limits.contain(estimate.value + half)) {
    test.decision = LimitsDecision::kInside;
  } else if (estimate.value - half > limits.high || estimate.value + half < limits.low ||
             (half == 0 && !limits.contain(estimate.value))) {
    test.decision = LimitsDecision::kOutside;
  }
  const double distance = distance_to_nearest(estimate.value, limits);
  if (estimate.is_exact || std::isinf(distance)) return test;
  if (estimate.error == 0) {
    test.p = distance == 0 ? 1 : 0;
  } else {
    const boost::math::students_t distribution(estimate.freedom);
    test.p = 2 * boost::math::cdf(boost::math::complement(distribution, distance / estimate.error));
  }
  return test;
}

std::optional<std::int64_t> seeds_to_decide(const Estimate& estimate, const Limits& limits) {
  if (estimate.is_exact || estimate.freedom <= 0 || estimate.error <= 0) return std::nullopt;
  const auto present = static_cast<double>(estimate.seeds);
  const double deviation = estimate.error * std::sqrt(present);
  const double spent = present - estimate.freedom;  // degrees of freedom that means and slopes take
  const auto decides = [&](std::int64_t seeds) {
    const double freedom = std::max(1.0, static_cast<double>(seeds) - spent);
    return chance_to_decide(estimate.value, deviation, freedom, static_cast<double>(seeds), limits) >= kChance;
  };
  return least_seeds(estimate.seeds, decides);
}

}  // namespace xlm
