// What bootstraps of fits share: random errors that follow from their place, and intervals of drawn numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace xlm {

struct LawInterval {
  double low = 0;
  double high = 0;
};

/// A standard normal number that follows from its place (Box and Muller).
double normal_at(std::uint64_t seed, std::uint64_t draw, std::uint64_t index);

/// By how much an interval of draws is too narrow because their spread was estimated with so many degrees of freedom:
/// the quantile of Student's t over that of the normal distribution.
double student_stretch(double freedom, double level);

/// Between the quantiles of `drawn`, whose distances from `estimate` are multiplied by `stretch`.
LawInterval stretched_interval(std::vector<double> drawn, double estimate, double level, double stretch);

}  // namespace xlm
