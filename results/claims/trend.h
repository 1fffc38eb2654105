// How a value goes along a column: its slope with an error, and where it turns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/judgement/pairing.h"

namespace xlm {

/// A value of a seed at a place of the column.
struct TrendPoint {
  std::string seed;
  double x = 0;
  double y = 0;
  int diverged = 0;     // +1: its run diverged, and there is no value; −1: that of what is subtracted did
  std::string setting;  // which one it is of, where x was measured and so differs between its seeds
};

/// Of the seeds that have a value at every place where two have: slopes over other places differ from theirs even if no
/// value does.
struct Trend {
  Estimate slope;               // of y by x: the mean over seeds of the slope of each
  std::vector<double> turns;    // values of x where the means go another way than before
  std::int64_t incomplete = 0;  // other seeds
  std::vector<double> lone;     // places that a single seed has, unless all are
};

/// Least squares for each seed, which has its own level. Nothing if there is a single place, or no seed has all.
std::optional<Trend> trend_of(const std::vector<TrendPoint>& points);

/// The values by place and seed.
std::map<double, ByGroup> by_place(const std::vector<TrendPoint>& points);

/// The points with values for diverged runs that are far worse than all others. `worse`: +1 where higher is worse,
/// otherwise −1.
std::vector<TrendPoint> with_worst(std::vector<TrendPoint> points, int worse);

}  // namespace xlm
