// Estimates and comparisons of seeds, against published values and numbers that SciPy computes.
#include "results/judgement/estimate.h"

#include <cmath>

#include <gtest/gtest.h>

#include "results/judgement/limits.h"
#include "results/judgement/pairing.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

ByGroup by_seed(const std::vector<double>& values, int first_seed = 0) {
  ByGroup groups;
  for (const double value : values) groups[std::to_string(100 + first_seed++)] = {value};
  return groups;
}

std::optional<double> p_of(const Estimate& difference) { return test_limits(difference, Limits::within(0)).p; }

/// Differences that have the mean `t` / √n and the sample deviation 1, so that the test's statistic is `t`.
std::vector<double> differences_with(double t, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(i - (n - 1) / 2.0);
  const double deviation = *sample_deviation(values);
  for (double& value : values) value = value / deviation + t / std::sqrt(n);
  return values;
}

/// Two-sided critical values of Student's t as tables of statistics print them (three decimals), by degrees of freedom.
TEST(Estimate, AgreesWithPrintedQuantiles) {
  struct Printed {
    int degrees;
    double p;
    double t;
  };
  for (const Printed& printed :
       {Printed{1, 0.05, 12.706}, Printed{2, 0.05, 4.303}, Printed{2, 0.01, 9.925}, Printed{4, 0.05, 2.776},
        Printed{9, 0.05, 2.262}, Printed{9, 0.10, 1.833}, Printed{29, 0.01, 2.756}, Printed{29, 0.05, 2.045}}) {
    const std::vector<double> a = differences_with(printed.t, printed.degrees + 1);
    const std::vector<double> b(a.size(), 0.0);
    EXPECT_NEAR(*p_of(difference_of_pairs(a, b)), printed.p, 4e-4 * printed.p / 0.05) << printed.degrees;
    EXPECT_NEAR(*p_of(difference_of_pairs(b, a)), printed.p, 4e-4 * printed.p / 0.05) << "two-sided";
  }
}

/// Hours of sleep gained by ten patients with two drugs: the example with which the test was published (Student
/// 1908), which R carries as `sleep`. Its documentation prints t = 4.0621, df = 9, p = 0.002833, and the interval
/// 0.7001142 to 2.4598858.
const std::vector<double> kFirstDrug{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
const std::vector<double> kSecondDrug{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

TEST(Estimate, OfPairsGivesStudentsOwnExample) {
  const SeedComparison compared = compare_seeds(by_seed(kSecondDrug), by_seed(kFirstDrug));
  const Estimate& gained = compared.difference;
  EXPECT_TRUE(compared.is_paired);
  EXPECT_EQ(gained.seeds, 10);
  EXPECT_NEAR(gained.value, 1.58, 1e-12);
  EXPECT_NEAR(gained.value / gained.error, 4.0621, 5e-5);
  EXPECT_NEAR(*p_of(gained), 0.002833, 5e-7);
  EXPECT_NEAR(gained.value - *half_width_of(gained, 0.95), 0.7001142, 5e-8);
  EXPECT_NEAR(gained.value + *half_width_of(gained, 0.95), 2.4598858, 5e-8);
  EXPECT_NEAR(*compared.effect, 1.58 / 1.229995, 1e-6);  // the standard deviation of the ten differences
}

/// R's t.test(extra ~ group, data = sleep), without pairs: t = -1.8608, df = 17.776, p = 0.07939, and the interval
/// -3.3654832 to 0.2054832.
TEST(Estimate, WithoutPairsGivesWelchsTestOfR) {
  const SeedComparison compared = compare_seeds(by_seed(kFirstDrug), by_seed(kSecondDrug, 50));
  const Estimate& gained = compared.difference;
  EXPECT_FALSE(compared.is_paired);
  EXPECT_NEAR(gained.value, -1.58, 1e-12);
  EXPECT_NEAR(gained.value / gained.error, -1.8608, 5e-5);
  EXPECT_NEAR(gained.freedom, 17.776, 5e-4);
  EXPECT_NEAR(*p_of(gained), 0.07939, 5e-6);
  EXPECT_NEAR(gained.value - *half_width_of(gained, 0.95), -3.3654832, 5e-8);
  EXPECT_NEAR(gained.value + *half_width_of(gained, 0.95), 0.2054832, 5e-8);
}

/// scipy 1.17: ttest_ind(…, equal_var=False), its df and confidence_interval(0.95).
TEST(Estimate, OfSamplesOfDifferentSizesIsSciPys) {
  const SeedComparison compared = compare_seeds(by_seed({1.50, 1.52, 1.55}), by_seed({1.60, 1.61, 1.66, 1.63}, 10));
  EXPECT_NEAR(compared.difference.value, -0.1016666667, 1e-9);
  EXPECT_NEAR(compared.difference.error, 0.0196497102, 1e-9);
  EXPECT_NEAR(compared.difference.freedom, 4.588221325100915, 1e-10);
  EXPECT_NEAR(*p_of(compared.difference), 0.00453184706106562, 1e-11);
  EXPECT_NEAR(compared.difference.value - *half_width_of(compared.difference, 0.95), -0.15357228344203652, 1e-10);
  EXPECT_NEAR(*compared.effect, -3.9375330686, 1e-8);
}

/// scipy 1.17: ttest_rel([1.1, 1.2, 1.35], [1.0, 1.22, 1.2]) and its confidence_interval(0.99).
TEST(Estimate, OfPairsIsSciPysAtAnotherLevel) {
  const Estimate difference = difference_of_pairs({1.1, 1.2, 1.35}, {1.0, 1.22, 1.2});
  EXPECT_NEAR(difference.value / difference.error, 1.5198827810467062, 1e-10);
  EXPECT_NEAR(*p_of(difference), 0.26790193380888516, 1e-10);
  EXPECT_NEAR(difference.value - *half_width_of(difference, 0.99), -0.4239671025242176, 1e-9);
}

/// With one degree of freedom t is Cauchy's: p = 1 − 2 atan(t) / π. With two: p = 1 − t / √(t² + 2).
TEST(Estimate, AgreesWithClosedForms) {
  for (const double t : {0.1, 1.0, 3.0, 20.0}) {
    EXPECT_NEAR(*p_of(estimate_of(differences_with(t, 2))), 1 - 2 * std::atan(t) / M_PI, 1e-12);
    EXPECT_NEAR(*p_of(estimate_of(differences_with(t, 3))), 1 - t / std::sqrt(t * t + 2), 1e-12);
  }
  for (const double level : {0.5, 0.9, 0.95}) {
    EXPECT_NEAR(*half_width_of(estimate_of({1, 3}), level), std::tan(M_PI * level / 2), 1e-9);
  }
}

TEST(Estimate, SaysNoMoreThanItCan) {
  const SeedComparison one = compare_seeds(by_seed({2}), by_seed({1}));
  EXPECT_TRUE(one.is_paired);
  EXPECT_EQ(one.difference.value, 1);
  EXPECT_FALSE(half_width_of(one.difference, 0.95) || p_of(one.difference) || one.effect);
  const SeedComparison apart = compare_seeds(by_seed({2}), by_seed({1, 3}, 10));
  EXPECT_FALSE(apart.is_paired);
  EXPECT_EQ(apart.difference.value, 0);
  EXPECT_EQ(apart.difference.freedom, 0);
  EXPECT_FALSE(half_width_of(apart.difference, 0.95) || p_of(apart.difference) || apart.effect);
}

// Of whole numbers rounding may hide half a step, and it varies by 1/√12: with scipy 1.17, t.ppf(0.975, 1) = 12.706205.
TEST(Estimate, EqualNumbersAreNoMoreCertainThanTheirDigits) {
  const SeedComparison equal = compare_seeds(by_seed({2, 3}), by_seed({1, 2}));
  EXPECT_NEAR(*half_width_of(equal.difference, 0.95), 12.706205 * std::sqrt(2.0 / 12) / std::sqrt(2.0), 1e-5);
  EXPECT_NEAR(*p_of(equal.difference), 0.178912, 1e-6) << "2·t.sf(√12, 1)";
  EXPECT_FALSE(equal.effect.has_value());
  const SeedComparison constant = compare_seeds(by_seed({2, 2}), by_seed({1, 1, 1}, 10));
  EXPECT_NEAR(*half_width_of(constant.difference, 0.95), 12.706205 * std::sqrt(1.0 / 24 + 1.0 / 36) + 1, 1e-5);
  EXPECT_EQ(p_of(constant.difference), 1.0) << "rounding alone may make this difference";
  EXPECT_EQ(constant.difference.freedom, 1);
  EXPECT_FALSE(constant.effect.has_value());
  EXPECT_EQ(p_of(difference_of_means({1, 1}, {1, 1})), 1.0);
  EXPECT_FALSE(p_of(estimate_of({1 / 3.0, 1 / 3.0}))) << "equal, and no digits say how they were rounded";
}

TEST(Estimate, WhatFollowsFromTheConfigurationIsExact) {
  Estimate same = estimate_of({38, 38});
  make_exact(same);
  EXPECT_EQ(half_width_of(same, 0.95), 0.0);
  Estimate varies = estimate_of({38, 39});
  make_exact(varies);
  EXPECT_FALSE(varies.is_exact());
}

TEST(Pairing, TakesSeedsThatBothHave) {
  const SeedComparison compared =
      compare_seeds({{"1", {1, 3}}, {"2", {5}}, {"3", {9}}}, {{"2", {4}}, {"1", {1}}, {"7", {0}}});
  EXPECT_FALSE(compared.is_paired) << "a third of each has no partner";
  EXPECT_NEAR(compared.difference.value, 16 / 3.0 - 5 / 3.0, 1e-12) << "several runs with one seed count as their mean";
  const SeedComparison common = compare_seeds({{"1", {1, 3}}, {"2", {5}}}, {{"2", {4}}, {"1", {1}}});
  EXPECT_TRUE(common.is_paired);
  EXPECT_EQ(common.difference.value, 1);
  const SeedComparison single = compare_seeds({{"1", {1}}}, {{"1", {4}}, {"2", {9}}});
  EXPECT_TRUE(single.is_paired) << "one of both has no other";
  EXPECT_EQ(single.difference.value, -3);
  EXPECT_EQ(single.left_out, 1);
  const SeedComparison one_in_common = compare_seeds({{"1", {1}}, {"2", {2}}}, {{"1", {4}}, {"3", {6}}});
  EXPECT_FALSE(one_in_common.is_paired);
  EXPECT_EQ(one_in_common.difference.value, -3.5);
  EXPECT_EQ(one_in_common.left_out, 0);
}

TEST(Pairing, PairsThatShowMuchMoreStandAlone) {
  ByGroup a = by_seed({1.00, 2.01, 3.02, 4.00, 5.01});
  ByGroup b = by_seed({1.10, 2.12, 3.11, 4.10, 5.12});
  b["other"] = {9};
  const SeedComparison alike = compare_seeds(a, b);
  EXPECT_TRUE(alike.is_paired);
  EXPECT_EQ(alike.left_out, 1);
  a.erase("100");
  a.erase("101");
  EXPECT_FALSE(compare_seeds(a, b).is_paired) << "three pairs are too few for that choice";
}

TEST(Pairing, DivergedSeedsCountAsTheWorst) {
  SeedValues a{.by_group = by_seed({1.0, 1.1, 1.05}), .diverged = {"103", "104", "105", "106", "107"}};
  const SeedValues b{.by_group = by_seed({2.0, 2.1, 2.05, 2.0, 2.1, 2.0, 2.1, 2.2})};
  const SeedComparison worst = compare_with_worst(a, b, 1);
  // Five of eight are infinitely far away: t = √(5·7/3) = 3.416 is beyond 2.365.
  EXPECT_EQ(test_limits(worst.difference, Limits::within(0)).decision, Decision::kOutside);
  EXPECT_GT(worst.difference.value, 0);
  a.diverged = {"103"};
  EXPECT_EQ(test_limits(compare_with_worst(a, b, 1).difference, Limits::within(0)).decision, Decision::kUndecided);
}

}  // namespace
}  // namespace xlm
