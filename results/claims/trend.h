// How a value goes along a column: its slope with an error, and the correlation of ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/judgement/estimate.h"

namespace xlm {

/// A value of a seed at a place of the column.
struct TrendPoint {
  std::string seed;
  double x = 0;
  double y = 0;
};

struct Trend {
  Estimate slope;                          // of y by x within each seed: every seed has its own level
  std::optional<double> rank_correlation;  // Spearman's, of the means at each x; nothing if either does not vary
  std::size_t places = 0;                  // different values of x
};

/// Least squares with a constant for each seed. A seed with one point does not count for the slope. Nothing if x
/// varies within no seed.
std::optional<Trend> trend_of(const std::vector<TrendPoint>& points);

/// Spearman's rank correlation, equal values sharing the mean of their ranks; nothing if one of both does not vary.
std::optional<double> rank_correlation(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace xlm
