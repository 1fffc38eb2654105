// Whether an uncertain number lies between limits that a claim sets, and how many seeds would decide it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace xlm {

/// A mean with its standard error.
struct Estimate {
  double value = 0;
  double error = 0;    // 0 with `is_exact`: it follows from the configuration
  double freedom = 0;  // degrees of freedom of `error`; 0: one number alone, of which no error is known
  std::int64_t seeds = 0;
  bool is_exact = false;
};

/// The mean of numbers, one for each seed.
Estimate estimate_of(const std::vector<double>& by_seed);

/// The difference of two means without common seeds, by Welch's t; `freedom` is that of Welch and Satterthwaite. No
/// error is known if one of them has a single seed.
Estimate difference_of_means(const std::vector<double>& a, const std::vector<double>& b);

/// What a claim allows.
struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open = false;  // the limits themselves are not allowed: "better" is not "equal"

  bool contain(double value) const;
};

enum class LimitsDecision { kInside, kOutside, kUndecided };

/// What a 95 % interval by Student's t decides: inside if all of it lies within the limits, outside if none of it does.
struct LimitsTest {
  LimitsDecision decision = LimitsDecision::kUndecided;
  std::optional<double> half_width;  // of the interval; nothing if no error is known, 0 of an exact number
  std::optional<double> p;           // two-sided, of "the true value is the nearest limit"; nothing without an interval
};
LimitsTest test_limits(const Estimate& estimate, const Limits& limits);

/// The least number of seeds that decides with a chance of 80 %, if further seeds scatter around the present mean as
/// they do now. Nothing if no error is known, or if more than 10,000 would be needed.
std::optional<std::int64_t> seeds_to_decide(const Estimate& estimate, const Limits& limits);

}  // namespace xlm
