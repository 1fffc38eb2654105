// Parabolas of budgets: exact recovery of planted best sizes, intervals by simulation, and what gives none.
#include "results/fits/iso_flops.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace xlm {
namespace {

constexpr double kGrowth = 0.5;

/// The planted best size of a budget: 1e6 at 1e15.
double planted_size(double compute) { return 1e6 * std::pow(compute / 1e15, kGrowth); }

/// Three budgets of five sizes around the planted best one, which lies `aside` factors of 2 from their middle.
LossPoints parabolas(double noise, std::mt19937_64& random, double aside = 0, int seeds = 1) {
  std::normal_distribution<double> error(0, 1);
  LossPoints points;
  std::size_t setting = 0;
  for (const double compute : {1e14, 1e15, 1e16}) {
    for (const double factor : {-2.0, -1.0, 0.0, 1.0, 2.0}) {
      const double size = planted_size(compute) * std::pow(2, factor + aside);
      const double away = std::log(size / planted_size(compute));
      for (int seed = 0; seed < seeds; ++seed) {
        points.x.push_back({size, compute * (1 + 0.01 * seed)});
        points.loss.push_back(2 - 0.1 * std::log10(compute / 1e15) + 0.05 * away * away + noise * error(random));
        points.setting.push_back(setting);
      }
      ++setting;
    }
  }
  return points;
}

TEST(IsoFlops, PlantedSizesAreRecovered) {
  std::mt19937_64 random(1);
  const std::vector<IsoFlopBudget> budgets = find_iso_flops(parabolas(0, random, 0.5));
  ASSERT_EQ(budgets.size(), 3U);
  for (const IsoFlopBudget& budget : budgets) {
    ASSERT_TRUE(budget.parabola.has_value());
    EXPECT_EQ(budget.sizes, 5U);
    EXPECT_NEAR(std::exp(budget.parabola->centre) / planted_size(budget.compute), 1, 1e-9);
    EXPECT_NEAR(budget.parabola->curvature, 0.05, 1e-9);
    EXPECT_NEAR(budget.parabola->least, 2 - 0.1 * std::log10(budget.compute / 1e15), 1e-9);
    EXPECT_NEAR(budget.off_centre(), -0.25, 1e-9) << "half a factor of 2 below the middle of four";
  }
  const IsoFlopEstimate estimate(budgets, {.draws = 20});
  EXPECT_NEAR(estimate.exponent(), kGrowth, 1e-9);
  EXPECT_NEAR(estimate.predict(1e18).size / planted_size(1e18), 1, 1e-8);
}

TEST(IsoFlops, SeedsOfASettingAreItsMean) {
  std::mt19937_64 random(1);
  const std::vector<IsoFlopBudget> budgets = find_iso_flops(parabolas(0.001, random, 0, 3));
  ASSERT_EQ(budgets.size(), 3U);
  EXPECT_EQ(budgets[0].losses.size(), 5U);
  EXPECT_NEAR(budgets[0].compute / 1e14, 1.01, 1e-4);
}

TEST(IsoFlops, IntervalsHoldTheTruth) {
  constexpr int kTries = 200;
  std::mt19937_64 random(4);
  int exponents = 0;
  int predictions = 0;
  for (int i = 0; i < kTries; ++i) {
    const IsoFlopEstimate estimate(find_iso_flops(parabolas(0.004, random)),
                                   {.draws = 200, .seed = static_cast<std::uint64_t>(i)});
    const LawInterval exponent = estimate.exponent_interval().value();
    exponents += exponent.low <= kGrowth && kGrowth <= exponent.high ? 1 : 0;
    const BestSize predicted = estimate.predict(1e18);
    const double truth = planted_size(1e18);
    predictions += predicted.interval->low <= truth && truth <= predicted.interval->high ? 1 : 0;
  }
  EXPECT_GE(exponents, 180);
  EXPECT_LE(exponents, 198);
  EXPECT_GE(predictions, 180);
  EXPECT_LE(predictions, 198);
}

/// Twenty nearly flat parabolas, whose four losses lie aside as a cubic does: in a draw about half of them open
/// downwards, and one of them is enough.
TEST(IsoFlops, WithoutAnyDrawHaveNoInterval) {
  LossPoints points;
  for (int budget = 0; budget < 20; ++budget) {
    const double compute = 1e14 * std::pow(2, budget);
    int number = 0;
    for (const double aside : {-1.0, 3.0, -3.0, 1.0}) {
      const double away = number++ - 1.5;
      points.x.push_back({1e6 * std::exp(away), compute});
      points.loss.push_back(2 + 1e-6 * away * away + 0.1 * aside);
      points.setting.push_back(points.setting.size());
    }
  }
  const IsoFlopEstimate estimate(find_iso_flops(points), {.draws = 50});
  EXPECT_EQ(estimate.failed_draws(), 50);
  EXPECT_FALSE(estimate.exponent_interval().has_value());
  EXPECT_FALSE(estimate.best_sizes().front().interval.has_value());
  EXPECT_FALSE(estimate.predict(1e18).interval.has_value());
}

TEST(IsoFlops, WithoutAMinimumHaveNoParabola) {
  std::mt19937_64 random(1);
  LossPoints points = parabolas(0, random);
  for (double& loss : points.loss) loss = 4 - loss;
  for (const IsoFlopBudget& budget : find_iso_flops(points)) EXPECT_FALSE(budget.parabola.has_value());
  LossPoints two;
  two.x = {{1e5, 1e14}, {2e5, 1e14}};
  two.loss = {2, 1.9};
  two.setting = {0, 1};
  const std::vector<IsoFlopBudget> budgets = find_iso_flops(two);
  ASSERT_EQ(budgets.size(), 1U);
  EXPECT_EQ(budgets[0].sizes, 2U);
  EXPECT_FALSE(budgets[0].parabola.has_value());
}

}  // namespace
}  // namespace xlm
