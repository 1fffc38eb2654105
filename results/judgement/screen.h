// Whether a change is a gain: a screen that stops early, and a confirmation on fresh seeds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "results/judgement/limits.h"

namespace xlm {

struct GainPlan {
  double min_gain = 0;                  // a gain must be larger than this
  std::int64_t seeds = 5;               // pairs of runs of a screen, and as many of a confirmation
  std::optional<SpreadEstimate> noise;  // of the gain of a pair, if it is known of more than the pairs of a change

  Limits limits() const { return {.low = min_gain, .open = true}; }
};

/// The noise of a pair's gain by that of single runs, as if the runs of a pair had nothing in common. If they have, the
/// true one is smaller.
SpreadEstimate noise_of_pairs(const SpreadEstimate& of_runs);

/// Numbers of pairs of runs, higher ones being better: a gain is one of the change less that of the base.
struct PairedNumbers {
  std::vector<double> change;
  std::vector<double> base;

  std::vector<double> gains() const;
  std::int64_t size() const { return static_cast<std::int64_t>(change.size()); }
};

/// The mean of the gains, with their spread and the noise of the plan pooled.
Estimate gain_of(const PairedNumbers& pairs, const GainPlan& plan);

enum class ScreenStep {
  kMore,       // another pair
  kStop,       // the change will hardly be confirmed
  kPass,       // confirmed by all pairs of the plan
  kUndecided,  // all pairs are there, and do not confirm it
};
struct ScreenLook {
  ScreenStep step = ScreenStep::kMore;
  std::optional<double> chance;  // to be confirmed by all pairs, at the gain seen so far; nothing: not known
};

/// Stops if the chance to be confirmed by all pairs of the plan at the gain seen so far is below 2 %: from the first
/// pair if the noise is known, otherwise from the second. A screen decides nothing else, so looks at it cost no error.
/// `pairs` is not empty.
ScreenLook look_at_screen(const PairedNumbers& pairs, const GainPlan& plan);

/// The chance that one useless change of a line of tries is kept, or more.
inline constexpr double kLineError = 0.05;

/// The one-sided level of a line's next confirmation, if so many before it have not been kept: 0.025, 0.0083, 0.0042, …
/// Their sum is kLineError. A confirmation that kept its change gives its level back (Tian and Ramdas 2021, online
/// fallback), so the number of gains does not matter.
double level_of_confirmation(std::int64_t not_kept);

/// Whether fresh pairs show a gain at a one-sided level: kInside keeps the change. The interval has the level that
/// belongs to it, 1 − 2 · `level`. Pairs that vary more than the noise of the plan (F-test at 1 %) keep their own
/// spread.
LimitsTest confirm_gain(const PairedNumbers& pairs, const GainPlan& plan, double level);

}  // namespace xlm
