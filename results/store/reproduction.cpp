// Our mean and the one that a paper prints.
#include "results/store/reproduction.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace xlm {
namespace {

constexpr double kDifferentVariances = 0.05;  // p below which two variances are not taken as one

/// The two-sided quantile: |T| exceeds it with the probability `alpha`.
double student_quantile(double freedom, double alpha) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(freedom), alpha / 2));
}

/// P(|X| ≤ bound) of a normal X; a negative bound is never met.
double chance_within(double bound, double mean, double deviation) {
  if (bound < 0) return 0;
  if (deviation == 0) return std::abs(mean) <= bound ? 1 : 0;
  const boost::math::normal distribution(mean, deviation);
  return boost::math::cdf(distribution, bound) - boost::math::cdf(distribution, -bound);
}

struct ErrorOfDifference {
  double error = 0;
  double freedom = 1;
};

/// p of the two-sided F-test that two samples have one variance.
double same_variance_p(const SpreadEstimate& a, const SpreadEstimate& b) {
  if (a.deviation == 0 || b.deviation == 0) return a.deviation == b.deviation ? 1 : 0;
  const boost::math::fisher_f distribution(a.freedom, b.freedom);
  const double ratio = std::pow(a.deviation / b.deviation, 2);
  const double above = boost::math::cdf(boost::math::complement(distribution, ratio));
  return 2 * std::min(above, 1 - above);
}

ErrorOfDifference error_of(const OwnMean& ours, const PrintedMean& printed) {
  const auto n = static_cast<double>(ours.runs);
  const auto m = static_cast<double>(printed.runs);
  const auto with_common_spread = [&](const SpreadEstimate& spread) {
    return ErrorOfDifference{spread.deviation * std::sqrt(1 / n + 1 / m), spread.freedom};
  };
  if (!printed.deviation || printed.runs < 2) return with_common_spread(ours.spread);
  const SpreadEstimate theirs{*printed.deviation, m - 1};
  if (same_variance_p(ours.spread, theirs) >= kDifferentVariances) {
    const double freedom = ours.spread.freedom + theirs.freedom;
    const double squares =
        ours.spread.freedom * std::pow(ours.spread.deviation, 2) + theirs.freedom * std::pow(theirs.deviation, 2);
    return with_common_spread({std::sqrt(squares / freedom), freedom});
  }
  const double of_ours = std::pow(ours.spread.deviation, 2) / n;
  const double of_theirs = std::pow(theirs.deviation, 2) / m;
  const double variance = of_ours + of_theirs;
  return {std::sqrt(variance),
          variance * variance / (of_ours * of_ours / ours.spread.freedom + of_theirs * of_theirs / theirs.freedom)};
}

/// What the cell would know with another number of runs and the spread as it is.
OwnMean with_runs(const OwnMean& ours, std::int64_t runs) {
  OwnMean more = ours;
  more.runs = runs;
  more.spread.freedom = ours.is_pooled ? ours.spread.freedom + static_cast<double>(runs - ours.runs)
                                       : static_cast<double>(std::max<std::int64_t>(runs - 1, 1));
  return more;
}

}  // namespace

PrintedDifference difference_from_printed(const OwnMean& ours, const PrintedMean& printed, const DecisionRule& rule) {
  const ErrorOfDifference error = error_of(ours, printed);
  PrintedDifference result{.difference = ours.value - printed.value, .error = error.error, .freedom = error.freedom};
  result.half_width = student_quantile(error.freedom, 1 - rule.level) * error.error + printed.rounding;
  const double beyond = std::abs(result.difference) - printed.rounding - rule.margin.value_or(0);
  if (beyond <= 0) return result;
  if (error.error == 0) {
    result.p = 0;
    return result;
  }
  const boost::math::students_t distribution(error.freedom);
  result.p = 2 * boost::math::cdf(boost::math::complement(distribution, beyond / error.error));
  return result;
}

Decision decide(const PrintedDifference& difference, double corrected_p, const DecisionRule& rule) {
  if (corrected_p < 1 - rule.level) return Decision::kDiffers;
  if (!rule.margin) return Decision::kConsistent;
  const bool within = std::abs(difference.difference) + difference.half_width <= *rule.margin;
  return within ? Decision::kAgrees : Decision::kUndecided;
}

std::optional<std::int64_t> runs_to_decide(const OwnMean& ours, const PrintedMean& printed, const DecisionRule& rule,
                                           std::int64_t tests, double chance) {
  const double difference = ours.value - printed.value;
  const double alpha = 1 - rule.level;
  const double margin = rule.margin.value_or(0);
  const auto decides = [&](std::int64_t runs) {
    const ErrorOfDifference error = error_of(with_runs(ours, runs), printed);
    const double of_mean = ours.spread.deviation / std::sqrt(static_cast<double>(runs));
    const double inner = margin - printed.rounding - student_quantile(error.freedom, alpha) * error.error;
    const double corrected = alpha / static_cast<double>(std::max<std::int64_t>(tests, 1));
    const double outer = margin + printed.rounding + student_quantile(error.freedom, corrected) * error.error;
    const double agrees = rule.margin ? chance_within(inner, difference, of_mean) : 0;
    return agrees + 1 - chance_within(outer, difference, of_mean) >= chance;
  };
  return least_seeds(ours.runs, decides);
}

}  // namespace xlm
