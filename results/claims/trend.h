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
};

struct Trend {
  Estimate slope;                  // of y by x: the mean over seeds of the slope of each
  std::vector<double> turns;       // values of x where the means go another way than before
  std::int64_t without_slope = 0;  // seeds with a single place
};

/// Least squares for each seed, which has its own level. Nothing if no seed has several places.
std::optional<Trend> trend_of(const std::vector<TrendPoint>& points);

/// The values by place and seed.
std::map<double, ByGroup> by_place(const std::vector<TrendPoint>& points);

}  // namespace xlm
