// The few statistics that tables need.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace xlm {

/// Arithmetic mean. `values` must not be empty.
double mean(const std::vector<double>& values);

/// Sample standard deviation (divided by n − 1); nothing for fewer than two values.
std::optional<double> sample_deviation(const std::vector<double>& values);

/// The quantile of sorted numbers, at least one, at `share` (0 … 1): between the two nearest, in proportion.
double quantile(const std::vector<double>& sorted, double share);

/// Middle value, or the mean of the two middle ones. `values` must not be empty.
double median(std::vector<double> values);

/// p of a two-sided paired t-test that the mean of a[i] − b[i] is zero, with n − 1 degrees of freedom; nothing for
/// fewer than two pairs. Differences that are all the same give 1 where they are zero, otherwise 0. `a` and `b` have
/// the same length.
std::optional<double> paired_t_test(const std::vector<double>& a, const std::vector<double>& b);

/// Half of the confidence interval of the mean by Student's t: the mean lies within mean ± this with the probability
/// `level` (0 … 1). Nothing for fewer than two values.
std::optional<double> half_interval(const std::vector<double>& values, double level);

/// What pairs of numbers say of the difference between two settings.
struct PairedComparison {
  std::int64_t pairs = 0;
  double difference = 0;             // mean of a[i] − b[i]
  std::optional<double> half_width;  // of its confidence interval; nothing for fewer than two pairs
  std::optional<double> p;           // as of paired_t_test
  std::optional<double> effect;      // Cohen's d: the mean difference in its standard deviations; nothing if all
                                     // differences are the same
};

/// `a` and `b` have the same length, at least one.
PairedComparison compare_pairs(const std::vector<double>& a, const std::vector<double>& b, double level);

/// What two samples say of the difference between two settings that have no seeds in common: Welch's t, which does not
/// take their spreads as equal (Welch 1947).
struct UnpairedComparison {
  double difference = 0;             // mean of a − mean of b
  double error = 0;                  // standard error of the difference
  double freedom = 0;                // degrees of freedom of Welch and Satterthwaite; 0: a sample has one value alone
  std::optional<double> half_width;  // of its confidence interval; nothing if a sample has one value alone
  std::optional<double> p;           // two-sided, that both means are equal; likewise
  std::optional<double> effect;      // the difference in standard deviations, the root of the mean of both variances;
                                     // nothing if no sample varies
};

/// Neither is empty.
UnpairedComparison compare_unpaired(const std::vector<double>& a, const std::vector<double>& b, double level);

/// A standard deviation and how well it is known.
struct SpreadEstimate {
  double deviation = 0;
  double freedom = 0;  // degrees of freedom: n − 1 of one sample, Σ (nᵢ − 1) of several pooled
};

/// The standard deviation of one sample; nothing for fewer than two values.
std::optional<SpreadEstimate> spread_of(const std::vector<double>& values);

/// The common standard deviation of independent samples, each with its own mean: √(Σ νᵢ·sᵢ² / Σ νᵢ). Nothing for no
/// sample.
std::optional<SpreadEstimate> pooled_spread(const std::vector<SpreadEstimate>& samples);

/// p of Bartlett's test that independent samples have one and the same variance (Bartlett 1937); nothing for fewer than
/// two. 0 if some vary and others do not; 1 if none varies. Levene's test and that of Brown and Forsythe would be safer
/// against long tails, but say nothing about samples as small as ours: all absolute deviations of two values from their
/// centre are equal, so that nothing varies within a sample. Student's t, for which the variances are wanted, takes
/// errors as normal anyway.
std::optional<double> equal_spread_test(const std::vector<SpreadEstimate>& samples);

/// The least number of seeds above `present`, and at least two, for which `decides` holds, which stays true once it is.
/// Nothing above 10,000: more are no advice.
std::optional<std::int64_t> least_seeds(std::int64_t present, const std::function<bool(std::int64_t seeds)>& decides);

/// p-values of several tests made at once, corrected so that the probability of one false finding among all stays below
/// the threshold that they are compared with (Holm 1979). In the order of `p`; none is made smaller, none exceeds 1.
std::vector<double> holm(const std::vector<double>& p);

}  // namespace xlm
