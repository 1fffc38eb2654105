// The few statistics that tables need.
#pragma once

#include <optional>
#include <vector>

namespace xlm {

/// Arithmetic mean. `values` must not be empty.
double mean(const std::vector<double>& values);

/// Sample standard deviation (divided by n − 1); nothing for fewer than two values.
std::optional<double> sample_deviation(const std::vector<double>& values);

/// Middle value, or the mean of the two middle ones. `values` must not be empty.
double median(std::vector<double> values);

/// p of a two-sided paired t-test that the mean of a[i] − b[i] is zero, with n − 1 degrees of freedom; nothing for
/// fewer than two pairs. Differences that are all the same give 1 where they are zero, otherwise 0. `a` and `b` have
/// the same length.
std::optional<double> paired_t_test(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace xlm
