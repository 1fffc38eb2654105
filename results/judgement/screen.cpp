// Screens and confirmations.
#include "results/judgement/screen.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "results/judgement/plan.h"

namespace xlm {
namespace {

constexpr double kFutile = 0.02;          // chance below which a screen stops
constexpr std::size_t kTestsOfNoise = 5;  // of a line: a change is noisier if one F-test in a hundred would say so

/// The chance if the noise is known: Student's t of the pairs to come, around the present mean.
double chance_with_noise(const Estimate& seen, const GainPlan& plan) {
  const auto present = static_cast<double>(seen.seeds);
  const auto all = static_cast<double>(plan.seeds);
  const double missing = all - present;
  const double deviation = seen.error * std::sqrt(present);
  const double needed = student_factor(kLevel, plan.noise->freedom + all - 1) * deviation * std::sqrt(all);
  const double t = (needed - all * (seen.value - plan.min_gain)) / (deviation * std::sqrt(missing));
  const double beyond = student_p(t, seen.freedom) / 2;
  return t > 0 ? beyond : 1 - beyond;
}

std::optional<double> chance_of(const Estimate& seen, const GainPlan& plan) {
  if (seen.freedom <= 0 || seen.error <= 0) return std::nullopt;
  return plan.noise ? chance_with_noise(seen, plan) : chance_above(seen, plan.seeds, plan.min_gain, seen.value);
}

}  // namespace

SpreadEstimate noise_of_pairs(const SpreadEstimate& of_runs) {
  return {std::sqrt(2.0) * of_runs.deviation, of_runs.freedom};
}

std::vector<double> PairedNumbers::gains() const {
  std::vector<double> gains(change.size());
  std::ranges::transform(change, base, gains.begin(), std::minus<>());
  return gains;
}

Estimate gain_of(const PairedNumbers& pairs, const GainPlan& plan) {
  const Estimate gain = difference_of_pairs(pairs.change, pairs.base);
  if (!plan.noise) return gain;
  const double step = std::sqrt(2.0) * step_of_pairs(pairs.change, pairs.base);
  SpreadEstimate spread = *plan.noise;
  if (const std::optional<SpreadEstimate> own = spread_of_rounded(pairs.gains(), step)) {
    spread = *pooled_spread({*own, spread});
  }
  return with_spread(gain, spread, 1 / static_cast<double>(gain.seeds), step);
}

ScreenLook look_at_screen(const PairedNumbers& pairs, const GainPlan& plan) {
  const Estimate seen = gain_of(pairs, plan);
  if (seen.seeds >= plan.seeds) {
    const bool confirmed = test_limits(seen, plan.limits()).decision == Decision::kInside;
    return {confirmed ? ScreenStep::kPass : ScreenStep::kUndecided, std::nullopt};
  }
  const std::optional<double> chance = chance_of(seen, plan);
  return {chance && *chance < kFutile ? ScreenStep::kStop : ScreenStep::kMore, chance};
}

double level_of_confirmation(std::int64_t not_kept) {
  return kLineError / static_cast<double>((not_kept + 1) * (not_kept + 2));
}

LimitsTest confirm_gain(const PairedNumbers& pairs, const GainPlan& plan, double level) {
  GainPlan own = plan;
  const std::optional<SpreadEstimate> spread = spread_of(pairs.gains());
  if (spread && plan.noise && is_noisier(*spread, *plan.noise, kTestsOfNoise)) own.noise.reset();
  return test_limits(gain_of(pairs, own), plan.limits(), 1 - 2 * level);
}

}  // namespace xlm
