// The paired bootstrap over parts, against numbers that were computed without it and against the normal interval.
#include "results/judgement/part_bootstrap.h"

#include <cmath>
#include <cstdint>
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

/// How often intervals of 95 % hold the true difference, which is 0, of so many parts with normal differences.
double held_by_intervals(std::size_t parts) {
  constexpr std::uint64_t kSets = 400;
  const std::vector<std::int64_t> tokens(parts, 10);
  double held = 0;
  for (std::uint64_t set = 0; set < kSets; ++set) {
    std::vector<double> a;
    for (std::size_t i = 0; i < parts; ++i) {
      double sum = -6;  // and twelve uniform numbers: nearly normal
      for (std::uint64_t j = 0; j < 12; ++j) sum += random_unit(random_bits(11, set, 12 * i + j));
      a.push_back(sum);
    }
    const PartComparison made = compare_parts(a, std::vector<double>(parts, 0.0), tokens, 0.95);
    if (made.low <= 0 && made.high >= 0) held += 1.0 / kSets;
  }
  return held;
}

TEST(PartBootstrap, TheLeastNumberOfPartsGivesAnInterval) {
  EXPECT_EQ(held_by_intervals(1), 0) << "of one part all draws are the same";
  EXPECT_LT(held_by_intervals(3), 0.8);
  EXPECT_GT(held_by_intervals(kLeastParts), 0.87);
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
