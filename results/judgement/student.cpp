// Student's t.
#include "results/judgement/student.h"

#include <cmath>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/quadrature/gauss_kronrod.hpp>

namespace xlm {

double student_factor(double level, double freedom) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), (1 - level) / 2));
}

double student_p(double t, double freedom) {
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(freedom), std::abs(t)));
}

double student_power(double t, double freedom, double shift) {
  // T = (Z + shift) / √(X / freedom) with Z normal and X chi-squared: one integral over Z remains. Series for the
  // non-central distribution lose their digits where both t and the shift are large.
  const boost::math::chi_squared squares(freedom);
  const boost::math::normal standard;
  const auto beyond = [&](double z) {
    const double reach = (z + shift) / t;
    // Of many degrees of freedom such a small sum of squares has no chance, and Boost 1.74 throws instead of saying so.
    const bool is_hopeless = freedom > 100 && reach < 1e-3;
    return reach <= 0 || is_hopeless
               ? 0
               : boost::math::pdf(standard, z) * boost::math::cdf(squares, freedom * reach * reach);
  };
  constexpr double kFarthest = 9;  // a normal number is further from 0 once in 10¹⁸
  constexpr unsigned kDepth = 12;
  constexpr double kAccuracy = 1e-9;
  const double begin = std::max(-kFarthest, -shift);
  if (begin >= kFarthest) return 0;
  return boost::math::quadrature::gauss_kronrod<double, 31>::integrate(beyond, begin, kFarthest, kDepth, kAccuracy);
}

}  // namespace xlm
