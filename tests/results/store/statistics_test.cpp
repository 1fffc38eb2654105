// Means, deviations and medians.
#include "results/store/statistics.h"

#include <cmath>

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(Statistics, MeanDeviationAndMedian) {
  EXPECT_DOUBLE_EQ(mean({2, 4, 4, 4, 5, 5, 7, 9}), 5);
  EXPECT_NEAR(*sample_deviation({2, 4, 4, 4, 5, 5, 7, 9}), std::sqrt(32.0 / 7), 1e-15);
  EXPECT_DOUBLE_EQ(median({5, 1, 3}), 3);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Statistics, EqualNumbersHaveNoDeviationWhateverTheRoundingOfTheirMean) {
  for (const double value : {5'000'000.0 / 870'004.0, 0.1, 1.0 / 3}) {
    for (const std::size_t count : {3U, 6U, 10U}) EXPECT_EQ(sample_deviation(std::vector<double>(count, value)), 0);
  }
}

TEST(Statistics, QuantilesLieBetweenNumbers) {
  EXPECT_EQ(quantile({1, 2, 4}, 0), 1);
  EXPECT_EQ(quantile({1, 2, 4}, 1), 4);
  EXPECT_EQ(quantile({1, 2, 4}, 0.5), 2);
  EXPECT_NEAR(quantile({1, 2, 4}, 0.75), 3, 1e-15);
  EXPECT_EQ(quantile({7}, 0.3), 7);
}

TEST(Statistics, OneValueHasNoDeviation) { EXPECT_FALSE(sample_deviation({1}).has_value()); }

}  // namespace
}  // namespace xlm
