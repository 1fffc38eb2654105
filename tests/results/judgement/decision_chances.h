// How likely each decision of a comparison with a printed value is: what simulations are compared with.
#pragma once

#include <cmath>
#include <cstdint>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>

#include "results/judgement/estimate.h"
#include "results/judgement/student.h"

namespace xlm {

struct DecisionChances {
  double agrees = 0;   // 0 without a margin
  double differs = 0;  // not corrected for several tests
};

/// P(|X| ≤ bound) of a normal X; a negative bound is never met.
inline double chance_of_being_within(double bound, double mean, double deviation) {
  if (bound < 0) return 0;
  const boost::math::normal distribution(mean, deviation);
  return boost::math::cdf(distribution, bound) - boost::math::cdf(distribution, -bound);
}

/// For one comparison, where ours truly differs by `difference` and single runs of both by the standard deviation
/// `deviation` (normal errors). `freedom` is that of the estimate of it.
inline DecisionChances decision_chances(double difference, double deviation, double freedom, std::int64_t runs,
                                        const PrintedMean& printed, double margin) {
  const double error = deviation * std::sqrt(1 / static_cast<double>(runs) + 1 / static_cast<double>(printed.runs));
  const double t = student_factor(kLevel, freedom);
  const boost::math::chi_squared squares(freedom);
  // The estimate of the error varies with the seeds: each chance is an average over its quantiles.
  const auto average = [&](const auto& chance) {
    const auto at_quantile = [&](double quantile) {
      return chance(t * error * std::sqrt(boost::math::quantile(squares, quantile) / freedom) + printed.rounding);
    };
    constexpr unsigned kDepth = 10;
    constexpr double kAccuracy = 1e-7;
    return boost::math::quadrature::gauss_kronrod<double, 31>::integrate(at_quantile, 0.0, 1.0, kDepth, kAccuracy);
  };
  DecisionChances chances;
  chances.differs =
      average([&](double half_width) { return 1 - chance_of_being_within(margin + half_width, difference, error); });
  if (margin == 0) return chances;
  chances.agrees =
      average([&](double half_width) { return chance_of_being_within(margin - half_width, difference, error); });
  return chances;
}

}  // namespace xlm
