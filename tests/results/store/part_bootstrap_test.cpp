// The paired bootstrap over parts, against numbers that were computed without it and against the normal interval.
#include "results/store/part_bootstrap.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

/// The numbers of tests/golden/part_bootstrap.py.
TEST(PartBootstrap, AgreesWithNumbersComputedElsewhere) {
  const std::vector<double> a{10, 22, 31, 8, 0, 45};
  const std::vector<double> b{11.5, 21, 33, 9, 0, 44};
  const std::vector<std::int64_t> tokens{5, 10, 15, 4, 0, 20};
  const PartComparison wide = compare_parts(a, b, tokens, 0.95);
  EXPECT_EQ(wide.parts, 5) << "one has no tokens";
  EXPECT_EQ(wide.draws, 10'000);
  EXPECT_NEAR(wide.difference, -0.046296296296296294, 1e-15);
  EXPECT_NEAR(wide.low, -0.203125, 1e-12);
  EXPECT_NEAR(wide.high, 0.046875, 1e-12);
  EXPECT_NEAR(wide.p, 0.47895210478952105, 1e-12);
  const PartComparison narrow = compare_parts(a, b, tokens, 0.8);
  EXPECT_NEAR(narrow.low, -0.12962962962962962, 1e-12);
  EXPECT_NEAR(narrow.high, 0.017241379310344827, 1e-12);
}

/// Of many parts with equally many tokens the interval is that of their mean by the normal distribution.
TEST(PartBootstrap, OfManyPartsItIsTheNormalInterval) {
  constexpr std::size_t kParts = 1500;
  constexpr double kTokens = 100;
  std::vector<double> a;
  std::vector<double> differences;
  for (std::size_t i = 0; i < kParts; ++i) {
    a.push_back(random_unit(random_bits(9, 0, i)) - 0.49);
    differences.push_back(a.back() / kTokens);
  }
  const PartComparison made = compare_parts(
      a, std::vector<double>(kParts, 0.0), std::vector<std::int64_t>(kParts, static_cast<std::int64_t>(kTokens)), 0.95);
  const double half = 1.959964 * *sample_deviation(differences) / std::sqrt(static_cast<double>(kParts));
  EXPECT_NEAR(made.difference, mean(differences), 1e-12);
  EXPECT_NEAR((made.high - made.low) / 2 / half, 1, 0.04);
  EXPECT_NEAR((made.high + made.low) / 2 - made.difference, 0, 0.1 * half);
  const double z = std::abs(made.difference) / (half / 1.959964);
  EXPECT_NEAR(made.p, std::erfc(z / std::sqrt(2.0)), 0.03);
}

TEST(PartBootstrap, EqualLossesAreNotToldApartAndConstantOnesAre) {
  const std::vector<double> a{1, 2, 3};
  const std::vector<std::int64_t> tokens{4, 4, 4};
  const PartComparison equal = compare_parts(a, a, tokens, 0.95);
  EXPECT_EQ(equal.difference, 0);
  EXPECT_EQ(equal.low, 0);
  EXPECT_EQ(equal.high, 0);
  EXPECT_EQ(equal.p, 1);
  const PartComparison apart = compare_parts({5, 6, 7}, a, tokens, 0.95);
  EXPECT_EQ(apart.low, 1);
  EXPECT_EQ(apart.high, 1);
  EXPECT_NEAR(apart.p, 2 / 10'001.0, 1e-12) << "as sure as the draws can be";
}

TEST(PartBootstrap, QuantilesLieBetweenNumbers) {
  EXPECT_EQ(quantile({1, 2, 4}, 0), 1);
  EXPECT_EQ(quantile({1, 2, 4}, 1), 4);
  EXPECT_EQ(quantile({1, 2, 4}, 0.5), 2);
  EXPECT_NEAR(quantile({1, 2, 4}, 0.75), 3, 1e-15);
  EXPECT_EQ(quantile({7}, 0.3), 7);
}

}  // namespace
}  // namespace xlm
