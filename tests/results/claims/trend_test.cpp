// Trends: slopes and rank correlations, compared with numbers computed elsewhere.
#include "results/claims/trend.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(ClaimTrend, OneSeedIsPlainRegression) {
  // scipy 1.17: linregress([1, 2, 3, 4], [2, 3, 5, 6]): slope 1.4, stderr 0.1414214
  const std::optional<Trend> trend = trend_of({{"1", 1, 2}, {"1", 2, 3}, {"1", 3, 5}, {"1", 4, 6}});
  ASSERT_TRUE(trend);
  EXPECT_NEAR(trend->slope.value, 1.4, 1e-12);
  EXPECT_NEAR(trend->slope.error, 0.1414214, 1e-7);
  EXPECT_EQ(trend->slope.freedom, 2);
  EXPECT_DOUBLE_EQ(*trend->rank_correlation, 1);
  EXPECT_EQ(trend->places, 4U);
}

TEST(ClaimTrend, SeedsMayHaveDifferentLevels) {
  // The second seed is 10 higher throughout: the slope is the same, and nothing is left over.
  const std::optional<Trend> trend =
      trend_of({{"1", 1, 1}, {"1", 2, 2}, {"1", 3, 3}, {"2", 1, 11}, {"2", 2, 12}, {"2", 3, 13}});
  ASSERT_TRUE(trend);
  EXPECT_DOUBLE_EQ(trend->slope.value, 1);
  EXPECT_NEAR(trend->slope.error, 0, 1e-12);
  EXPECT_EQ(trend->slope.freedom, 3) << "six points, two levels and a slope";
  EXPECT_EQ(trend->slope.seeds, 2);
}

TEST(ClaimTrend, WithoutSeveralPlacesWithinASeedThereIsNone) {
  EXPECT_FALSE(trend_of({{"1", 1, 1}, {"2", 2, 2}}));
  EXPECT_FALSE(trend_of({}));
}

TEST(ClaimTrend, EqualValuesShareTheirRanks) {
  // scipy 1.17: spearmanr([1, 2, 2, 4], [1, 3, 2, 4]).statistic = 0.9486833
  EXPECT_NEAR(*rank_correlation({1, 2, 2, 4}, {1, 3, 2, 4}), 0.9486833, 1e-7);
  EXPECT_DOUBLE_EQ(*rank_correlation({1, 2, 3}, {3, 2, 1}), -1);
  EXPECT_FALSE(rank_correlation({1, 2, 3}, {5, 5, 5}));
}

}  // namespace
}  // namespace xlm
