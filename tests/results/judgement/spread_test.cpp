// Spreads against SciPy.
#include "results/judgement/spread.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

// scipy.stats.bartlett.
TEST(Spread, BartlettsTestIsSciPys) {
  const auto spreads = [](const std::vector<std::vector<double>>& samples) {
    std::vector<SpreadEstimate> found;
    for (const std::vector<double>& sample : samples) found.push_back(*spread_of(sample));
    return found;
  };
  const std::vector<SpreadEstimate> three = spreads({{1.1, 1.2, 1.15}, {2.0, 2.3}, {0.5, 0.51, 0.56, 0.49}});
  EXPECT_NEAR(*equal_spread_test(three), 0.052680070945192996, 1e-10);
  EXPECT_NEAR(*equal_spread_test(spreads({{1, 2}, {1, 1.1}, {3, 3.02}})), 0.041907158888695624, 1e-10);
  EXPECT_NEAR(pooled_spread(three)->deviation, 0.09389710680668845, 1e-12);
  EXPECT_EQ(pooled_spread(three)->freedom, 6);
  EXPECT_EQ(equal_spread_test({{0, 2}, {0, 3}}), 1.0);
  EXPECT_EQ(equal_spread_test({{0, 2}, {1, 3}}), 0.0);
  EXPECT_FALSE(equal_spread_test({{1, 2}}).has_value());
  EXPECT_FALSE(pooled_spread({}).has_value());
  EXPECT_FALSE(spread_of({1}).has_value());
}

TEST(Spread, TheStepOfDigitsIsSeen) {
  EXPECT_EQ(step_of({38, 12}), 1);
  EXPECT_DOUBLE_EQ(step_of({1.5, 1.25}), 0.01);
  EXPECT_DOUBLE_EQ(step_of({0.1 + 0.2, 1.1 * 3}), 0.1) << "what binary fractions leave is no digit";
  EXPECT_EQ(step_of({1.5, 1 / 3.0}), 0);
  EXPECT_EQ(step_of({0, 0}), 0);
  EXPECT_NEAR(spread_of_rounded({3, 3}, 1)->deviation, 0.28867513459481287, 1e-15);
  EXPECT_FALSE(spread_of_rounded({3, 3}, 0));
  EXPECT_EQ(shift_of_rounded({3, 3}, 1), 0.5);
  EXPECT_EQ(shift_of_rounded({3, 4}, 1), 0) << "the errors of rounding average out";
}

// scipy.stats.f: 2·min(sf, cdf) of (0.004/0.006)², 3 and 2 degrees of freedom, and of (0.001/0.02)², 5 and 3.
TEST(Spread, TheTestOfTwoVariancesIsSciPys) {
  EXPECT_NEAR(same_variance_p({0.004, 3}, {0.006, 2}), 0.5059644256269408, 1e-10);
  EXPECT_NEAR(same_variance_p({0.001, 5}, {0.02, 3}), 4.512039597297143e-06, 1e-12);
  EXPECT_EQ(same_variance_p({0, 2}, {0, 3}), 1);
  EXPECT_EQ(same_variance_p({0, 2}, {1, 3}), 0);
}

}  // namespace
}  // namespace xlm
