// Limits.
#include "results/judgement/limits.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace xlm {
namespace {

constexpr double kLeastFreedom = 2;  // of an error by which more seeds are planned

double distance_to_nearest(double value, const Limits& limits) {
  return std::min(std::abs(value - limits.low), std::abs(value - limits.high));
}

/// The places of numbers in ascending order.
std::vector<std::size_t> ascending(const std::vector<double>& numbers) {
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t i, std::size_t j) { return numbers[i] < numbers[j]; });
  return order;
}

/// What a test of more seeds would rest on.
struct Planned {
  Estimate estimate;
  double seed_error = 0;  // the part of its error that further seeds draw again
};
using PlanOf = std::function<Planned(std::int64_t seeds)>;

/// The chance that the whole interval stays on this side of a limit that is so far away.
double chance_to_stay(double distance, const Planned& planned, double level) {
  if (std::isinf(distance)) return distance > 0 ? 1 : 0;
  const double t = student_factor(level, planned.estimate.freedom) * planned.estimate.error / planned.seed_error;
  return student_power(t, planned.estimate.freedom, (distance - planned.estimate.rounding) / planned.seed_error);
}

/// The chance of the decision that the present value speaks for.
double chance_to_decide(const Planned& planned, const Limits& limits, std::size_t tests) {
  const double value = planned.estimate.value;
  if (limits.contain(value)) {
    return chance_to_stay(value - limits.low, planned, kLevel) + chance_to_stay(limits.high - value, planned, kLevel) -
           1;
  }
  const double corrected = 1 - (1 - kLevel) / static_cast<double>(std::max<std::size_t>(tests, 1));
  return chance_to_stay(distance_to_nearest(value, limits), planned, corrected);
}

std::optional<std::int64_t> least_seeds(std::int64_t present, const PlanOf& plan, const Limits& limits,
                                        std::size_t tests) {
  constexpr std::int64_t kMaxSeeds = 10'000;
  const auto decides = [&](std::int64_t seeds) {
    return chance_to_decide(plan(seeds), limits, tests) >= kPlannedChance;
  };
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

}  // namespace

bool Limits::contain(double value) const { return open ? value > low && value < high : value >= low && value <= high; }

Decision decide(double low, double high, const Limits& limits) {
  if (limits.contain(low) && limits.contain(high)) return Decision::kInside;
  const bool is_outside = low > limits.high || high < limits.low || (low == high && !limits.contain(low));
  return is_outside ? Decision::kOutside : Decision::kUndecided;
}

Decision LimitsTest::corrected(double corrected_p, double level) const {
  return decision == Decision::kOutside && corrected_p >= 1 - level ? Decision::kUndecided : decision;
}

LimitsTest test_limits(const Estimate& estimate, const Limits& limits, double level) {
  LimitsTest test{.half_width = half_width_of(estimate, level)};
  if (!test.half_width) return test;
  test.decision = decide(estimate.value - *test.half_width, estimate.value + *test.half_width, limits);
  const double distance = distance_to_nearest(estimate.value, limits);
  if (estimate.is_exact() || std::isinf(distance)) return test;
  const double beyond = std::max(0.0, distance - estimate.rounding);
  test.p = estimate.error > 0 ? student_p(beyond / estimate.error, estimate.freedom) : beyond == 0 ? 1 : 0;
  return test;
}

std::vector<double> holm(const std::vector<double>& p) {
  const std::vector<std::size_t> order = ascending(p);
  std::vector<double> corrected(p.size());
  double largest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto tests_left = static_cast<double>(p.size() - rank);
    largest = std::min(1.0, std::max(largest, tests_left * p[order[rank]]));
    corrected[order[rank]] = largest;
  }
  return corrected;
}

std::vector<double> benjamini_hochberg(const std::vector<double>& p) {
  const std::vector<std::size_t> order = ascending(p);
  std::vector<double> corrected(p.size());
  double least = 1;
  for (std::size_t rank = order.size(); rank-- > 0;) {
    least = std::min(least, p[order[rank]] * static_cast<double>(p.size()) / static_cast<double>(rank + 1));
    corrected[order[rank]] = least;
  }
  return corrected;
}

double chance_to_be_decided(const Estimate& estimate, const Limits& limits) {
  return chance_to_decide({.estimate = estimate, .seed_error = estimate.error}, limits, 1);
}

std::optional<std::int64_t> seeds_to_decide(const Estimate& estimate, const Limits& limits) {
  if (estimate.is_exact() || estimate.freedom <= 0 || estimate.error <= 0) return std::nullopt;
  const auto present = static_cast<double>(estimate.seeds);
  const double spent = present - estimate.freedom;  // degrees of freedom that means and slopes take
  const auto plan = [&](std::int64_t seeds) {
    Estimate more = estimate;
    more.error *= std::sqrt(present / static_cast<double>(seeds));
    more.freedom = std::max(1.0, static_cast<double>(seeds) - spent);
    return Planned{.estimate = more, .seed_error = more.error};
  };
  return least_seeds(estimate.seeds, plan, limits, 1);
}

std::optional<std::int64_t> seeds_to_decide(const OwnMean& ours, const PrintedMean& printed, const Limits& limits,
                                            std::size_t tests) {
  if (ours.spread.deviation <= 0) return std::nullopt;  // further seeds have the same number
  const auto plan = [&](std::int64_t seeds) {
    const OwnMean more = ours.with_runs(seeds);
    return Planned{.estimate = difference_from_printed(more, printed),
                   .seed_error = ours.spread.deviation / std::sqrt(static_cast<double>(seeds))};
  };
  return least_seeds(ours.runs, plan, limits, tests);
}

std::optional<SeedsToDecide> range_to_decide(const Estimate& estimate, const Limits& limits) {
  if (estimate.is_exact() || estimate.freedom < kLeastFreedom) return std::nullopt;
  const auto at = [&](double shift) {
    Estimate shifted = estimate;
    shifted.value += shift;
    return seeds_to_decide(shifted, limits);
  };
  const double half = *half_width_of(estimate, kLevel);
  return SeedsToDecide{.seeds = at(0), .at_low = at(-half), .at_high = at(half)};
}

std::optional<SeedsToDecide> range_to_decide(const OwnMean& ours, const PrintedMean& printed, const Limits& limits,
                                             std::size_t tests) {
  const Estimate difference = difference_from_printed(ours, printed);
  if (difference.freedom < kLeastFreedom) return std::nullopt;
  const auto at = [&](double shift) {
    OwnMean shifted = ours;
    shifted.value += shift;
    return seeds_to_decide(shifted, printed, limits, tests);
  };
  const double half = *half_width_of(difference, kLevel);
  return SeedsToDecide{.seeds = at(0), .at_low = at(-half), .at_high = at(half)};
}

}  // namespace xlm
