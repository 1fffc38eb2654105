// Means, deviations and quantiles, and how several runs become one number.
#pragma once

#include <array>
#include <optional>
#include <string_view>
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

enum class Aggregate { kMean, kMedian };
inline constexpr std::array<std::string_view, 2> kAggregateNames{"mean", "median"};
enum class Spread { kNone, kDeviation };
inline constexpr std::array<std::string_view, 2> kSpreadNames{"none", "sd"};

/// `values` as one number; they must not be empty.
double aggregated(const std::vector<double>& values, Aggregate aggregate);

}  // namespace xlm
