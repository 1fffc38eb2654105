// What bootstraps of fits share.
#include "results/fits/draws.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <boost/math/distributions/normal.hpp>

#include "base/random.h"
#include "results/judgement/student.h"
#include "results/store/statistics.h"

namespace xlm {

double normal_at(std::uint64_t seed, std::uint64_t draw, std::uint64_t index) {
  const double radius = 1 - random_unit(random_bits(seed, draw, 2 * index));  // above 0
  const double angle = 2 * std::numbers::pi * random_unit(random_bits(seed, draw, 2 * index + 1));
  return std::sqrt(-2 * std::log(radius)) * std::cos(angle);
}

double student_stretch(double freedom, double level) {
  const double tail = (1 - level) / 2;
  const boost::math::normal normal;
  return student_factor(level, freedom) / boost::math::quantile(boost::math::complement(normal, tail));
}

LawInterval stretched_interval(std::vector<double> drawn, double estimate, double level, double stretch) {
  std::sort(drawn.begin(), drawn.end());
  const double tail = (1 - level) / 2;
  const double low = estimate - stretch * (estimate - quantile(drawn, tail));
  const double high = estimate + stretch * (quantile(drawn, 1 - tail) - estimate);
  return {std::min(low, estimate), std::max(high, estimate)};
}

}  // namespace xlm
