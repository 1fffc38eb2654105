// How several runs become one number, as tables and figures ask for it.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "results/quantities/quantities.h"

namespace xlm {

/// How several runs become one number.
enum class Aggregate { kMean, kMedian, kMin, kMax, kBest };
inline constexpr std::array<std::string_view, 5> kAggregateNames{"mean", "median", "min", "max", "best"};
enum class Spread { kNone, kDeviation };
inline constexpr std::array<std::string_view, 2> kSpreadNames{"none", "sd"};

/// `values` as one number; they must not be empty. Best is the smallest, or the largest where higher is better.
double aggregated(const std::vector<double>& values, Aggregate aggregate, Better better);

}  // namespace xlm
