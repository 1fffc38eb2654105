// Limits: intervals and numbers computed elsewhere, decisions, and how many seeds decide, by simulation.
#include "results/judgement/limits.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(Limits, TheIntervalIsThatOfTables) {
  // scipy 1.17: t.interval(0.95, 2, loc=mean([0.01, 0.03, 0.02]), scale=sem(…)) = (-0.00484138, 0.04484138);
  // ttest_1samp([0.01, 0.03, 0.02], 0).pvalue = 0.07417990
  const Estimate estimate = estimate_of({0.01, 0.03, 0.02});
  const LimitsTest test = test_limits(estimate, {.low = 0, .open = true});
  EXPECT_EQ(test.decision, Decision::kUndecided);
  EXPECT_NEAR(*test.half_width, 0.02484138, 1e-8);
  EXPECT_NEAR(*test.p, 0.07417990, 1e-7);
}

TEST(Limits, WelchsDifferenceOfUnequalSamples) {
  // By hand: s² / n are 5/12 and 1/3.
  const Estimate difference = difference_of_means({1, 2, 3, 4}, {2, 4, 3});
  EXPECT_DOUBLE_EQ(difference.value, -0.5);
  EXPECT_NEAR(difference.error, std::sqrt(5.0 / 12 + 1.0 / 3), 1e-12);
  EXPECT_NEAR(difference.freedom, std::pow(9.0 / 12, 2) / (std::pow(5.0 / 12, 2) / 3 + std::pow(1.0 / 3, 2) / 2),
              1e-12);
  EXPECT_EQ(difference_of_means({1, 2, 3, 4}, {2, 4}).freedom, 1) << "two seeds decide how wide it is";
  EXPECT_EQ(difference_of_means({1, 2}, {3}).freedom, 0) << "one seed has no error";
}

TEST(Limits, OneSeedDecidesNothingAndAnExactNumberDecidesAtOnce) {
  const LimitsTest one = test_limits(estimate_of({5}), {.low = 0});
  EXPECT_EQ(one.decision, Decision::kUndecided);
  EXPECT_FALSE(one.half_width);
  EXPECT_FALSE(one.p);
  Estimate exact = estimate_of({0.62});
  exact.varies = Varies::kOverNothing;
  EXPECT_EQ(test_limits(exact, {.low = 0.6, .high = 0.63}).decision, Decision::kInside);
  EXPECT_EQ(test_limits(exact, {.low = 0.63}).decision, Decision::kOutside);
  EXPECT_EQ(test_limits(exact, {.low = 0.62}).decision, Decision::kInside);
  EXPECT_EQ(test_limits(exact, {.low = 0.62, .open = true}).decision, Decision::kOutside) << "equal is not better";
}

TEST(Limits, ABandNeedsTheWholeInterval) {
  const Estimate narrow = estimate_of({0.001, 0.002, 0.0015});
  EXPECT_EQ(test_limits(narrow, {.low = -0.01, .high = 0.01}).decision, Decision::kInside);
  EXPECT_EQ(test_limits(narrow, {.low = -0.002, .high = 0.002}).decision, Decision::kUndecided);
  EXPECT_EQ(test_limits(narrow, {.low = 0.1, .high = 0.2}).decision, Decision::kOutside);
}

/// Of many samples from a normal distribution, the share that the decision names.
double share_of(Decision decision, double mean, std::size_t seeds, const Limits& limits) {
  std::mt19937_64 random(20);
  std::normal_distribution<double> normal(mean, 1);
  constexpr int kSamples = 4000;
  int found = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    std::vector<double> values(seeds);
    for (double& value : values) value = normal(random);
    if (test_limits(estimate_of(values), limits).decision == decision) ++found;
  }
  return static_cast<double>(found) / kSamples;
}

TEST(Limits, AClaimAtItsLimitIsDecidedWronglyInTwoAndAHalfPercentEachWay) {
  for (const std::size_t seeds : {2U, 3U, 10U}) {
    EXPECT_NEAR(share_of(Decision::kInside, 0, seeds, {.low = 0, .open = true}), 0.025, 0.008) << seeds;
    EXPECT_NEAR(share_of(Decision::kOutside, 0, seeds, {.low = 0, .open = true}), 0.025, 0.008) << seeds;
  }
}

TEST(Limits, TheSeedsThatAreSaidToDecideDo) {
  // A mean one standard deviation from the limit; the estimate says so itself.
  Estimate estimate{.value = 1, .error = 1 / std::sqrt(3.0), .freedom = 2, .seeds = 3};
  const Limits better{.low = 0, .open = true};
  const std::optional<std::int64_t> seeds = seeds_to_decide(estimate, better);
  ASSERT_TRUE(seeds);
  EXPECT_EQ(
      *seeds,
      10);  // power of a one-sample t-test at d = 1, α = 0.05 two-sided: 0.748 with 9, 0.803 with 10 (scipy 1.17, nct)
  EXPECT_GE(share_of(Decision::kInside, 1, static_cast<std::size_t>(*seeds), better), 0.78);
  EXPECT_LT(share_of(Decision::kInside, 1, static_cast<std::size_t>(*seeds) - 2, better), 0.78);
  const Limits band{.low = -1, .high = 1};
  estimate.value = 0;
  const std::optional<std::int64_t> alike = seeds_to_decide(estimate, band);
  ASSERT_TRUE(alike);
  EXPECT_GE(share_of(Decision::kInside, 0, static_cast<std::size_t>(*alike), band), 0.78);
  estimate.value = 0;
  EXPECT_FALSE(seeds_to_decide(estimate, better)) << "no number of seeds tells a difference of zero from zero";
  EXPECT_FALSE(seeds_to_decide(estimate_of({5}), better));
}

// scipy 1.17, as above with d = 1 and 1 ± 2.4841, the ends of the interval: the first n above 3 whose nct.sf is 0.8.
TEST(Limits, SeedsToDecideAreARangeOverTheInterval) {
  const Limits better{.low = 0, .open = true};
  const Estimate estimate{.value = 1, .error = 1 / std::sqrt(3.0), .freedom = 2, .seeds = 3};
  const std::optional<SeedsToDecide> range = range_to_decide(estimate, better);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->seeds, 10);
  EXPECT_EQ(range->at_low, 6);
  EXPECT_EQ(range->at_high, 4);
  EXPECT_FALSE(range_to_decide(estimate_of({1, 2}), better)) << "two seeds";
  EXPECT_FALSE(range_to_decide(estimate_of({1}), better));
}

// statsmodels 0.14: multipletests(…, method="holm").
TEST(Limits, HolmCorrectsStepByStep) {
  const std::vector<double> corrected = holm({0.01, 0.04, 0.03, 0.005, 0.2});
  const std::vector<double> expected{0.04, 0.09, 0.09, 0.025, 0.2};
  ASSERT_EQ(corrected.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(corrected[i], expected[i], 1e-15);
  EXPECT_EQ(holm({0.6, 0.7}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

// statsmodels 0.14: multipletests(…, method="fdr_bh").
TEST(Limits, BenjaminiHochbergsShareIsStatsmodels) {
  const std::vector<double> corrected = benjamini_hochberg({0.04, 0.001, 0.03, 0.2, 0.004});
  const std::vector<double> expected{0.05, 0.005, 0.05, 0.2, 0.01};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(corrected.at(i), expected[i], 1e-12);
}

}  // namespace
}  // namespace xlm
