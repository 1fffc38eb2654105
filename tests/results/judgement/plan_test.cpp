// Chances at the end of a plan, against Monte Carlo.
#include "results/judgement/plan.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "results/store/statistics.h"
#include "tests/results/simulations.h"

namespace xlm {
namespace {

/// The same chance by drawing what is missing, with a variance drawn from what the present numbers leave open.
double drawn_chance(const std::vector<double>& seen, std::size_t seeds, double limit, double effect, int samples) {
  NormalNumbers normal(71);
  std::mt19937_64 engine(73);
  std::chi_squared_distribution<double> squares(static_cast<double>(seen.size()) - 1);
  const double around = std::pow(*sample_deviation(seen), 2) * (static_cast<double>(seen.size()) - 1);
  int above = 0;
  for (int i = 0; i < samples; ++i) {
    const double deviation = std::sqrt(around / squares(engine));
    std::vector<double> all = seen;
    while (all.size() < seeds) all.push_back(effect + deviation * normal.next());
    above += test_limits(estimate_of(all), {.high = limit}).decision == Decision::kOutside ? 1 : 0;
  }
  return static_cast<double>(above) / samples;
}

TEST(PlanSimulation, TheChanceIsThatOfDrawing) {
  const int samples = simulate_in_full() ? 100'000 : 10'000;
  const double errors = 3 * std::sqrt(0.25 / samples);
  const std::vector<double> three{1.2112345, 0.5123456, 0.9123457};
  for (const double effect : {0.0, 0.4, 1.0}) {
    for (const std::size_t seeds : {std::size_t{4}, std::size_t{6}, std::size_t{12}}) {
      EXPECT_NEAR(chance_above(estimate_of(three), static_cast<std::int64_t>(seeds), 0.1, effect),
                  drawn_chance(three, seeds, 0.1, effect, samples), errors)
          << seeds << " seeds, effect " << effect;
    }
  }
}

// scipy 1.17: quad of betainc over the quantiles of t.
TEST(Plan, TheChanceIsSciPys) {
  EXPECT_NEAR(chance_above(estimate_of({1.2, 0.5, 0.9}), 6, 0, 0.4), 0.7315162160678, 1e-6);
}

TEST(Plan, TheBestEffectOfTheIntervalCounts) {
  const Estimate seen = estimate_of({0.0123457, -0.0112345, 0.0034567});
  EXPECT_LT(chance_within(seen, 5, {.low = 0.5}), 0.05) << "far from above 0.5";
  EXPECT_NEAR(chance_within(seen, 9, {.low = 0}), 0.8302568, 1e-4) << "scipy, at the upper end of the interval";
  EXPECT_GT(chance_within(seen, 5, Limits::within(0.5)), 0.9);
  EXPECT_LT(chance_within(seen, 5, Limits::within(0.0005)), 0.05) << "no such interval is so narrow";
}

TEST(Plan, LooksSpendFivePercentTogether) {
  EXPECT_NEAR(level_of_look(0), 0.04, 1e-12);
  double all = 0;
  for (std::int64_t look = 0; look < 60; ++look) all += level_of_look(look);
  EXPECT_NEAR(all, 0.05, 1e-12);
}

TEST(PlanSimulation, LookingAtDoubledSeedsTellsEqualsApartInFivePercent) {
  const int studies = simulate_in_full() ? 100'000 : 5'000;
  NormalNumbers normal(79);
  int decided = 0;
  for (int i = 0; i < studies; ++i) {
    std::vector<double> pairs;
    bool is_decided = false;
    for (std::int64_t look = 0; look < 5; ++look) {
      while (std::ssize(pairs) < 3 << look) pairs.push_back(normal.next());
      is_decided = is_decided || *test_limits(estimate_of(pairs), {.high = 0}).p < level_of_look(look);
    }
    decided += is_decided ? 1 : 0;
  }
  EXPECT_LE(static_cast<double>(decided) / studies, 0.05 + 3 * std::sqrt(0.05 * 0.95 / studies));
  EXPECT_GE(static_cast<double>(decided) / studies, 0.04 - 3 * std::sqrt(0.04 * 0.96 / studies));
}

}  // namespace
}  // namespace xlm
