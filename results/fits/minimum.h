// The minimum of a smooth function of several variables within bounds, by NLopt's L-BFGS.
#pragma once

#include <functional>
#include <vector>

namespace xlm {

struct Minimum {
  std::vector<double> at;
  double value = 0;
};

/// A function of as many numbers as `gradient` has room for. It writes its gradient there unless that is null, and it
/// must not throw: NLopt's C code calls it.
using SmoothFunction = std::function<double(const std::vector<double>& at, double* gradient)>;

/// The lowest place that a descent from `start` reaches; `start`, `low` and `high` are equally long. Throws Error if
/// NLopt cannot be set up, which happens only without memory.
Minimum minimise(const SmoothFunction& function, std::vector<double> start, const std::vector<double>& low,
                 const std::vector<double>& high);

}  // namespace xlm
