// An uncertain number: its value, its error, how well that is known, and what it varies over. Everything that is judged
// is one of these: a mean over seeds, a difference of settings, a slope, ours less what a paper prints.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "results/judgement/spread.h"

namespace xlm {

/// What would change an estimate if all were done again.
enum class Varies { kOverNothing, kOverSeeds };

struct Estimate {
  double value = 0;
  double error = 0;                    // standard error
  double freedom = 0;                  // degrees of freedom of `error`; 0: one number alone, or equal numbers, of which
                                       // no error is known
  std::int64_t seeds = 0;              // or pairs of them; of two samples the smaller
  Varies varies = Varies::kOverSeeds;  // over nothing: it follows from the configuration
  double rounding = 0;       // what the last digit of a number may hide. It shifts the value by at most this, always
                             // by the same amount, so it widens the interval, and no seed narrows it
  bool is_constant = false;  // the numbers behind it are all the same
  bool is_shared = false;    // its error is known of more than the numbers behind it (with_spread)

  bool is_exact() const { return varies == Varies::kOverNothing; }
  bool has_error() const { return is_exact() || freedom > 0; }
};

/// Takes an estimate of numbers that are all the same as exact: it follows from the configuration.
void make_exact(Estimate& estimate);

/// Half of the interval by Student's t; nothing if no error is known.
std::optional<double> half_width_of(const Estimate& estimate, double level);

/// The mean of numbers, one for each seed, at least one. Of numbers with few digits what their rounding may hide enters
/// here as well as into differences (spread_of_rounded, shift_of_rounded).
Estimate estimate_of(const std::vector<double>& by_seed);

/// The step of the digits of pairs of numbers. If they have all digits, it is the last bit of the largest: pairs of
/// numbers that vary, and whose differences are equal, show the difference that well. 0 if one side does not vary.
double step_of_pairs(const std::vector<double>& a, const std::vector<double>& b);

/// The mean of a[i] − b[i]: the settings were run with the same seeds. Both have the same length, at least one.
Estimate difference_of_pairs(const std::vector<double>& a, const std::vector<double>& b);

/// The difference of the means of two samples without common seeds, neither of them empty, by Welch's t, which does not
/// take their spreads as equal (Welch 1947). No error is known if one of them has a single value.
Estimate difference_of_means(const std::vector<double>& a, const std::vector<double>& b);

/// A number of seeds whose spread is known of more than themselves. `parts`: 1/n, or 1/n + 1/m of two samples. `step`:
/// of the digits of all numbers behind it.
Estimate with_spread(Estimate estimate, const SpreadEstimate& spread, double parts, double step);

/// A mean of our runs with different seeds.
struct OwnMean {
  double value = 0;
  std::int64_t runs = 1;   // n
  SpreadEstimate spread;   // of single runs: of these, or pooled over several cells (pooled_spread)
  double rounding = 0;     // shift_of_rounded
  bool is_pooled = false;  // further seeds add their degrees of freedom to those of the other cells

  /// What would be known with another number of runs and the spread as it is.
  OwnMean with_runs(std::int64_t runs) const;
};

struct PrintedMean {
  double value = 0;
  double rounding = 0;              // half a unit of the last printed digit
  std::int64_t runs = 1;            // m
  std::optional<double> deviation;  // printed sample standard deviation of single runs; only where m is at least 2
};

/// Ours less the printed value. Both are means of runs, so both have an error: √(s²/n + s²/m), as the paper's seeds are
/// taken to differ as ours do. A printed deviation is pooled into s, unless an F-test at 5 % speaks against one
/// variance: then it is Welch's. Both `runs` and `ours.spread.freedom` are at least 1.
Estimate difference_from_printed(const OwnMean& ours, const PrintedMean& printed);

}  // namespace xlm
