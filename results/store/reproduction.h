// Our mean and the one that a paper prints: the difference with its interval, what it decides, and how many seeds would
// decide. Both are means of runs, so both have an error: n runs of ours and m of the paper's, whose seeds are taken to
// differ as ours do unless the paper prints how much they differ.
#pragma once

#include <cstdint>
#include <optional>

#include "results/store/statistics.h"

namespace xlm {

/// A mean of our runs with different seeds.
struct OwnMean {
  double value = 0;
  std::int64_t runs = 1;   // n
  SpreadEstimate spread;   // of single runs: of these, or pooled over several cells (pooled_spread)
  bool is_pooled = false;  // further seeds add their degrees of freedom to those of the other cells
};

/// A mean as a paper prints it.
struct PrintedMean {
  double value = 0;
  double rounding = 0;              // half a unit of the last printed digit
  std::int64_t runs = 1;            // m
  std::optional<double> deviation;  // printed sample standard deviation of single runs; only where m is at least 2
};

/// How decisions are made.
struct DecisionRule {
  double level = 0.95;           // of the interval; 1 − level is the chance of "differs" where both are equal
  std::optional<double> margin;  // δ: a difference that does not matter, in units of the value; nothing: none is known
};

/// Ours less the printed value.
struct PrintedDifference {
  double difference = 0;
  double error = 0;  // standard error s·√(1/n + 1/m). A printed sd is pooled into s, unless an F-test at 5 % speaks
                     // against one variance: then √(s²/n + sd²/m)
  double freedom = 0;     // degrees of freedom of `error`: of s, or those of Welch 1947
  double half_width = 0;  // t·error + rounding: the interval is difference ± this
  double p = 1;  // of "the true difference is at most the margin (or zero)", two-sided: below 1 − level exactly where
                 // the interval lies outside of ±margin (or of zero)
};

enum class Decision {
  kAgrees,      // the whole interval lies within ±margin
  kConsistent,  // without a margin: zero is in the interval. This is not evidence that both are equal
  kDiffers,     // the whole interval lies outside of ±margin (without a margin: of zero), corrected for several tests
  kUndecided,   // neither
};

/// The interval of the difference, by Student's t. If nothing varies (`spread.deviation` is 0 and no other is printed)
/// it is ± rounding, and p is 0 or 1. `ours.runs`, `printed.runs` and `ours.spread.freedom` are at least 1.
PrintedDifference difference_from_printed(const OwnMean& ours, const PrintedMean& printed, const DecisionRule& rule);

/// What an interval decides. `corrected_p` is `difference.p` corrected for the tests made at once (holm); "differs"
/// needs it below 1 − level. "Agrees" needs no correction: that all of several agree holds only where each does.
Decision decide(const PrintedDifference& difference, double corrected_p, const DecisionRule& rule);

/// The least number of our runs (n) that would decide with a chance of at least `chance`, if further runs scatter
/// around the present mean as much as they do now. The printed value stays as it is. `tests`: how many are corrected at
/// once. Nothing if no number of runs would: the paper's own error and rounding are larger than what is to be told
/// apart.
std::optional<std::int64_t> runs_to_decide(const OwnMean& ours, const PrintedMean& printed, const DecisionRule& rule,
                                           std::int64_t tests = 1, double chance = 0.8);

}  // namespace xlm
