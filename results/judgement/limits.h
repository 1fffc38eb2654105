// Whether an uncertain number lies between limits, and how many seeds would decide that. "Better" is one limit, a
// margin is two of them, ±δ, and so is "equal": both are zero.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "results/judgement/estimate.h"
#include "results/judgement/student.h"

namespace xlm {

struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open = false;  // the limits themselves are not allowed: "better" is not "equal"

  static Limits within(double margin) { return {.low = -margin, .high = margin}; }
  bool contain(double value) const;
};

enum class Decision {
  kInside,     // all of it within the limits
  kOutside,    // none of it
  kUndecided,  // neither; or there is no interval
};
Decision decide(double low, double high, const Limits& limits);

struct LimitsTest {
  Decision decision = Decision::kUndecided;
  std::optional<double> half_width;  // of the interval; nothing if no error is known, 0 of an exact number
  std::optional<double> p;           // two-sided, of "the true value is the nearest limit"; nothing without an interval

  /// What is decided if this is one of several tests, with p corrected for all of them: "outside" needs it below
  /// 1 − `level`. "Inside" needs no correction: that all of several are inside holds only where each is.
  Decision corrected(double corrected_p, double level = kLevel) const;
};
LimitsTest test_limits(const Estimate& estimate, const Limits& limits, double level = kLevel);

/// p-values of several tests made at once, corrected so that the probability of one false finding among all stays below
/// the threshold that they are compared with (Holm 1979). In the order of `p`; none is made smaller, none exceeds 1.
std::vector<double> holm(const std::vector<double>& p);

/// The same for the share of false findings among all findings (Benjamini and Hochberg 1995).
std::vector<double> benjamini_hochberg(const std::vector<double>& p);

/// With which a plan should decide.
inline constexpr double kPlannedChance = 0.8;

/// The chance that an estimate whose true value is its own, with this error known by so many degrees of freedom, is
/// decided as that value speaks for.
double chance_to_be_decided(const Estimate& estimate, const Limits& limits);

/// How many seeds of each side would decide with a chance of 80 % if further seeds scatter as the present ones do:
/// around the present value, or around an end of its interval. nullopt if more than 10,000 would be needed.
struct SeedsToDecide {
  std::optional<std::int64_t> seeds;
  std::optional<std::int64_t> at_low;
  std::optional<std::int64_t> at_high;
};

/// Nothing if no error is known, or by a single degree of freedom: two seeds say nearly nothing of the spread.
std::optional<SeedsToDecide> range_to_decide(const Estimate& estimate, const Limits& limits);

/// The same of ours less a printed value.
std::optional<SeedsToDecide> range_to_decide(const OwnMean& ours, const PrintedMean& printed, const Limits& limits,
                                             std::size_t tests);

/// The least number of seeds, above the present one and at least two, that decides with a chance of 80 % if further
/// seeds scatter around the present mean as they do now. Nothing if no error is known, or if more than 10,000 would be
/// needed: more are no advice.
std::optional<std::int64_t> seeds_to_decide(const Estimate& estimate, const Limits& limits);

/// The same of ours less a printed value, which stays as it is: its own error and rounding may be larger than what is
/// to be told apart. `tests`: how many are corrected at once.
std::optional<std::int64_t> seeds_to_decide(const OwnMean& ours, const PrintedMean& printed, const Limits& limits,
                                            std::size_t tests);

}  // namespace xlm
