// Descends with NLopt.
#include "results/fits/minimum.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

#include <nlopt.h>

#include "base/error.h"

namespace xlm {
namespace {

constexpr double kValueTolerance = 1e-13;  // relative change at which a descent ends
constexpr double kPlaceTolerance = 1e-11;
constexpr int kMaxEvaluations = 3000;

/// What NLopt's callback gets: the function, and the lowest place so far. NLopt reports a failure if rounding stops a
/// line search at the minimum, so its own result is not enough.
struct Descent {
  const SmoothFunction& function;
  std::vector<double> place;
  Minimum lowest;
};

double evaluate(unsigned count, const double* at, double* gradient, void* data) {
  Descent& descent = *static_cast<Descent*>(data);
  descent.place.assign(at, at + count);
  const double value = descent.function(descent.place, gradient);
  if (value < descent.lowest.value) descent.lowest = {descent.place, value};
  return value;
}

}  // namespace

Minimum minimise(const SmoothFunction& function, std::vector<double> start, const std::vector<double>& low,
                 const std::vector<double>& high) {
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = std::clamp(start[i], low[i], high[i]);
  Descent descent{function, {}, {start, std::numeric_limits<double>::infinity()}};
  const std::unique_ptr<std::remove_pointer_t<nlopt_opt>, void (*)(nlopt_opt)> optimiser(
      nlopt_create(NLOPT_LD_LBFGS, static_cast<unsigned>(start.size())), nlopt_destroy);
  if (!optimiser) throw Error("NLopt cannot start a descent");
  nlopt_set_min_objective(optimiser.get(), evaluate, &descent);
  nlopt_set_lower_bounds(optimiser.get(), low.data());
  nlopt_set_upper_bounds(optimiser.get(), high.data());
  nlopt_set_ftol_rel(optimiser.get(), kValueTolerance);
  nlopt_set_xtol_rel(optimiser.get(), kPlaceTolerance);
  nlopt_set_maxeval(optimiser.get(), kMaxEvaluations);
  double value = 0;
  if (nlopt_optimize(optimiser.get(), start.data(), &value) == NLOPT_OUT_OF_MEMORY) {
    throw ResourceError("out of memory during a fit");
  }
  return descent.lowest;
}

}  // namespace xlm
