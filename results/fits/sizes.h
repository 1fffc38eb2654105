// Which values of a column are one size: runs of one setting need not be exactly as large.
#pragma once

#include <vector>

namespace xlm {

/// Values within this factor are one size.
inline constexpr double kOneSize = 1.01;

/// The different sizes among values above 0, ascending; each is the least of the values that are one with it.
std::vector<double> different_sizes(std::vector<double> values);

}  // namespace xlm
