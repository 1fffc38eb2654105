// Plans.
#include "results/judgement/plan.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>
#include <boost/math/special_functions/beta.hpp>

namespace xlm {
namespace {

double chance_below(Estimate seen, std::int64_t seeds, double limit, double effect) {
  seen.value = -seen.value;
  return chance_above(seen, seeds, -limit, -effect);
}

}  // namespace

double chance_above(const Estimate& seen, std::int64_t seeds, double limit, double effect) {
  const auto present = static_cast<double>(seen.seeds);
  const double freedom = present - 1;
  const auto all = static_cast<double>(seeds);
  const double missing = all - present;
  const double squares = seen.error * seen.error * present * freedom;  // around the present mean
  const double sum = present * (seen.value - limit);
  const double squares_of_limit = squares + sum * sum / present;
  const double t = student_factor(kLevel, all - 1);
  const double most = (1 + (all - 1) / (t * t)) / all;  // of all squares over the square of the sum
  const boost::math::students_t future(freedom);
  // By Student's t of the missing mean. Given that, their own squares over those around the present mean are a ratio of
  // two chi-squared numbers.
  const auto above = [&](double quantile) {
    const double x = boost::math::quantile(future, quantile);
    const double further = missing * (effect - limit) + x * std::sqrt(squares * missing / freedom);
    if (sum + further <= 0) return 0.0;
    const double left = most * (sum + further) * (sum + further) - squares_of_limit - further * further / missing;
    const double ratio = left / (squares * (1 + x * x / freedom));
    if (ratio <= 0 || missing <= 1) return ratio > 0 ? 1.0 : 0.0;
    return boost::math::ibeta((missing - 1) / 2, present / 2, ratio / (1 + ratio));
  };
  constexpr unsigned kDepth = 12;
  constexpr double kAccuracy = 1e-6;
  return boost::math::quadrature::gauss_kronrod<double, 31>::integrate(above, 0.0, 1.0, kDepth, kAccuracy);
}

double chance_within(const Estimate& seen, std::int64_t seeds, const Limits& limits) {
  const double half = half_width_of(seen, kLevel).value_or(0);
  double centre = std::isinf(limits.low) ? seen.value - half : seen.value + half;
  if (!std::isinf(limits.low) && !std::isinf(limits.high)) centre = (limits.low + limits.high) / 2;
  const double effect = std::clamp(centre, seen.value - half, seen.value + half);
  double chance = 1;
  if (!std::isinf(limits.low)) chance = std::min(chance, chance_above(seen, seeds, limits.low, effect));
  if (!std::isinf(limits.high)) chance = std::min(chance, chance_below(seen, seeds, limits.high, effect));
  return chance;
}

double level_of_look(std::int64_t look) {
  constexpr double kFirst = 0.8;  // the share of the plan with which a study begins
  const double share = look == 0 ? kFirst : (1 - kFirst) * std::pow(0.5, static_cast<double>(look));
  return (1 - kLevel) * share;
}

double distance_decided(const Estimate& estimate) {
  constexpr double kTooFar = 1000;  // standard errors; with one degree of freedom it takes 51
  double near = 0;
  double far = kTooFar;
  const double t = student_factor(kLevel, estimate.freedom);
  while (far - near > 1e-6 * far) {
    const double middle = (near + far) / 2;
    (student_power(t, estimate.freedom, middle) < kPlannedChance ? near : far) = middle;
  }
  return far * estimate.error;
}

}  // namespace xlm
