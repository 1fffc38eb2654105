// Estimates.
#include "results/judgement/estimate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "results/judgement/student.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

/// The difference of two independent means by their standard errors: Welch's and Satterthwaite's degrees of freedom.
void set_welch(Estimate& difference, const SpreadEstimate& a, const SpreadEstimate& b) {
  const double of_a = a.deviation * a.deviation;
  const double of_b = b.deviation * b.deviation;
  const double squares = of_a * of_a / a.freedom + of_b * of_b / b.freedom;
  difference.error = std::sqrt(of_a + of_b);
  difference.freedom = squares > 0 ? (of_a + of_b) * (of_a + of_b) / squares : std::min(a.freedom, b.freedom);
}

/// How much the mean of so many runs varies.
SpreadEstimate of_mean(const SpreadEstimate& spread, std::int64_t runs) {
  return {spread.deviation / std::sqrt(static_cast<double>(runs)), spread.freedom};
}

/// Numbers that are compared were written in one way.
double step_of_both(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> both = a;
  both.insert(both.end(), b.begin(), b.end());
  return step_of(both);
}

bool are_equal(const std::vector<double>& values) { return sample_deviation(values).value_or(0) == 0; }

Estimate estimate_of_rounded(const std::vector<double>& by_seed, double step, double shift) {
  Estimate estimate{.value = mean(by_seed), .seeds = std::ssize(by_seed), .is_constant = are_equal(by_seed)};
  if (const std::optional<SpreadEstimate> spread = spread_of_rounded(by_seed, step)) {
    estimate.error = of_mean(*spread, estimate.seeds).deviation;
    estimate.freedom = spread->freedom;
    estimate.rounding = shift;
  }
  return estimate;
}

}  // namespace

double step_of_pairs(const std::vector<double>& a, const std::vector<double>& b) {
  const double step = step_of_both(a, b);
  if (step > 0 || are_equal(a) || are_equal(b)) return step;
  double largest = 0;
  for (const auto* side : {&a, &b}) {
    for (const double number : *side) largest = std::max(largest, std::abs(number));
  }
  return largest * std::numeric_limits<double>::epsilon();
}

std::optional<double> half_width_of(const Estimate& estimate, double level) {
  if (!estimate.has_error()) return std::nullopt;
  return (estimate.error > 0 ? student_factor(level, estimate.freedom) * estimate.error : 0) + estimate.rounding;
}

void make_exact(Estimate& estimate) {
  if (!estimate.is_constant) return;
  estimate.varies = Varies::kOverNothing;
  estimate.error = 0;
  estimate.rounding = 0;
}

Estimate estimate_of(const std::vector<double>& by_seed) {
  const double step = step_of(by_seed);
  return estimate_of_rounded(by_seed, step, shift_of_rounded(by_seed, step));
}

Estimate difference_of_pairs(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences(a.size());
  std::transform(a.begin(), a.end(), b.begin(), differences.begin(), std::minus<>());
  const double step = step_of_pairs(a, b);
  return estimate_of_rounded(differences, std::sqrt(2.0) * step, shift_of_rounded(a, step) + shift_of_rounded(b, step));
}

Estimate difference_of_means(const std::vector<double>& a, const std::vector<double>& b) {
  Estimate difference{.value = mean(a) - mean(b),
                      .seeds = std::min(std::ssize(a), std::ssize(b)),
                      .is_constant = are_equal(a) && are_equal(b)};
  const double step = step_of_both(a, b);
  const std::optional<SpreadEstimate> of_a = spread_of_rounded(a, step);
  const std::optional<SpreadEstimate> of_b = spread_of_rounded(b, step);
  if (!of_a || !of_b) return difference;
  set_welch(difference, of_mean(*of_a, std::ssize(a)), of_mean(*of_b, std::ssize(b)));
  constexpr std::int64_t kFewest = 3;  // below, Satterthwaite's degrees of freedom promise too much: 2 against 10 seeds
                                       // would cover 90 %. Those of the smaller sample alone keep the level
  if (difference.seeds < kFewest) difference.freedom = static_cast<double>(difference.seeds - 1);
  difference.rounding = shift_of_rounded(a, step) + shift_of_rounded(b, step);
  return difference;
}

Estimate with_spread(Estimate estimate, const SpreadEstimate& spread, double parts, double step) {
  estimate.error = std::max(spread.deviation, step / std::sqrt(12.0)) * std::sqrt(parts);
  estimate.freedom = spread.freedom;
  if (spread.deviation < step / 2) estimate.rounding = std::max(estimate.rounding, step);
  estimate.is_shared = true;
  return estimate;
}

OwnMean OwnMean::with_runs(std::int64_t number) const {
  OwnMean more = *this;
  more.runs = number;
  more.spread.freedom = is_pooled ? spread.freedom + static_cast<double>(number - runs)
                                  : static_cast<double>(std::max<std::int64_t>(number - 1, 1));
  return more;
}

Estimate difference_from_printed(const OwnMean& ours, const PrintedMean& printed) {
  Estimate difference{
      .value = ours.value - printed.value, .seeds = ours.runs, .rounding = ours.rounding + printed.rounding};
  SpreadEstimate common = ours.spread;
  if (printed.deviation && printed.runs > 1) {
    const SpreadEstimate theirs{*printed.deviation, static_cast<double>(printed.runs - 1)};
    if (same_variance_p(ours.spread, theirs) < kUnequalSpreads) {
      set_welch(difference, of_mean(ours.spread, ours.runs), of_mean(theirs, printed.runs));
      return difference;
    }
    common = *pooled_spread({ours.spread, theirs});
  }
  difference.error =
      common.deviation * std::sqrt(1 / static_cast<double>(ours.runs) + 1 / static_cast<double>(printed.runs));
  difference.freedom = common.freedom;
  return difference;
}

}  // namespace xlm
