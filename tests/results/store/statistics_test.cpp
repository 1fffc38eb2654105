// Statistics against published values.
#include "results/store/statistics.h"

#include <cmath>

#include <gtest/gtest.h>

namespace xlm {
namespace {

/// Pairs whose differences have the mean `t` / √n and the sample deviation 1, so that the test's statistic is `t`.
std::vector<double> differences_with(double t, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(i - (n - 1) / 2.0);
  const double deviation = *sample_deviation(values);
  for (double& value : values) value = value / deviation + t / std::sqrt(n);
  return values;
}

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

TEST(Statistics, OneValueHasNoDeviation) { EXPECT_FALSE(sample_deviation({1}).has_value()); }

/// Two-sided critical values of Student's t as tables of statistics print them (three decimals), by degrees of freedom.
TEST(Statistics, PairedTestAgreesWithPrintedQuantiles) {
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
    EXPECT_NEAR(*paired_t_test(a, b), printed.p, 4e-4 * printed.p / 0.05) << printed.degrees;
    EXPECT_NEAR(*paired_t_test(b, a), printed.p, 4e-4 * printed.p / 0.05) << "two-sided";
  }
}

/// Hours of sleep gained by ten patients with two drugs: the example with which the test was published (Student
/// 1908), which R carries as `sleep`. Its documentation prints t = 4.0621,
/// df = 9, p = 0.002833; the two-sided critical values of printed tables are 3.250 for p = 0.01 and 4.781 for 0.001.
TEST(Statistics, PairedTestGivesStudentsOwnExample) {
  const std::vector<double> first{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> second{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  std::vector<double> gained(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) gained[i] = second[i] - first[i];
  EXPECT_NEAR(mean(gained), 1.58, 1e-12);
  const double t = mean(gained) / (*sample_deviation(gained) / std::sqrt(10.0));
  EXPECT_NEAR(t, 4.0621, 5e-5);
  const double p = *paired_t_test(second, first);
  EXPECT_NEAR(p, 0.002833, 5e-7);
  EXPECT_TRUE(3.250 < t && t < 4.781 && 0.001 < p && p < 0.01) << "between the critical values, so between their p";
}

/// With one degree of freedom t is Cauchy's: p = 1 − 2 atan(t) / π. With two: p = 1 − t / √(t² + 2).
TEST(Statistics, PairedTestAgreesWithClosedForms) {
  for (const double t : {0.1, 1.0, 3.0, 20.0}) {
    EXPECT_NEAR(*paired_t_test(differences_with(t, 2), {0, 0}), 1 - 2 * std::atan(t) / M_PI, 1e-12);
    EXPECT_NEAR(*paired_t_test(differences_with(t, 3), {0, 0, 0}), 1 - t / std::sqrt(t * t + 2), 1e-12);
  }
}

TEST(Statistics, PairedTestNeedsTwoPairs) {
  EXPECT_FALSE(paired_t_test({}, {}).has_value());
  EXPECT_FALSE(paired_t_test({1}, {2}).has_value());
}

TEST(Statistics, PairedTestOfEqualDifferences) {
  EXPECT_EQ(paired_t_test({1, 2, 3}, {1, 2, 3}), 1.0);
  EXPECT_EQ(paired_t_test({1, 2, 3}, {2, 3, 4}), 0.0);
}

/// The interval that R prints for the same example: 0.7001142 to 2.4598858.
TEST(Statistics, IntervalGivesStudentsOwnExample) {
  const std::vector<double> first{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> second{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const PairedComparison compared = compare_pairs(second, first, 0.95);
  EXPECT_EQ(compared.pairs, 10);
  EXPECT_NEAR(compared.difference, 1.58, 1e-12);
  EXPECT_NEAR(compared.difference - *compared.half_width, 0.7001142, 5e-8);
  EXPECT_NEAR(compared.difference + *compared.half_width, 2.4598858, 5e-8);
  EXPECT_EQ(compared.p, paired_t_test(second, first));
  EXPECT_NEAR(*compared.effect, 1.58 / 1.229995, 1e-6);  // the standard deviation of the ten differences
}

/// R's t.test(extra ~ group, data = sleep), without pairs: t = -1.8608, df = 17.776, p = 0.07939, and the interval
/// -3.3654832 to 0.2054832.
TEST(Statistics, UnpairedComparisonGivesWelchsTestOfR) {
  const std::vector<double> first{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
  const std::vector<double> second{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const UnpairedComparison compared = compare_unpaired(first, second, 0.95);
  EXPECT_NEAR(compared.difference, -1.58, 1e-12);
  EXPECT_NEAR(compared.difference / compared.error, -1.8608, 5e-5);
  EXPECT_NEAR(compared.freedom, 17.776, 5e-4);
  EXPECT_NEAR(*compared.p, 0.07939, 5e-6);
  EXPECT_NEAR(compared.difference - *compared.half_width, -3.3654832, 5e-8);
  EXPECT_NEAR(compared.difference + *compared.half_width, 0.2054832, 5e-8);
}

/// Samples of different sizes and spreads; the distribution of t was integrated by Simpson's rule.
TEST(Statistics, UnpairedComparisonOfDifferentSamples) {
  const UnpairedComparison compared = compare_unpaired({1.50, 1.52, 1.55}, {1.60, 1.61, 1.66, 1.63}, 0.95);
  EXPECT_NEAR(compared.difference, -0.1016666667, 1e-9);
  EXPECT_NEAR(compared.error, 0.0196497102, 1e-9);
  EXPECT_NEAR(compared.freedom, 4.5882213251, 1e-8);
  EXPECT_NEAR(*compared.p, 0.0045318471, 1e-8);
  EXPECT_NEAR(*compared.half_width, 0.0519056168, 1e-8);
  EXPECT_NEAR(*compared.effect, -3.9375330686, 1e-8);
}

TEST(Statistics, UnpairedComparisonSaysNoMoreThanItCan) {
  const UnpairedComparison one = compare_unpaired({2}, {1, 3}, 0.95);
  EXPECT_EQ(one.difference, 0);
  EXPECT_EQ(one.freedom, 0);
  EXPECT_FALSE(one.half_width || one.p || one.effect);
  const UnpairedComparison constant = compare_unpaired({2, 2}, {1, 1, 1}, 0.95);
  EXPECT_EQ(constant.half_width, 0.0);
  EXPECT_EQ(constant.p, 0.0);
  EXPECT_EQ(constant.freedom, 1);
  EXPECT_FALSE(constant.effect.has_value());
  EXPECT_EQ(compare_unpaired({1, 1}, {1, 1}, 0.95).p, 1.0);
}

/// With one degree of freedom the quantile of t is tan(π (level / 2)).
TEST(Statistics, IntervalAgreesWithTheClosedForm) {
  for (const double level : {0.5, 0.9, 0.95}) {
    EXPECT_NEAR(*half_interval({1, 3}, level), std::tan(M_PI * level / 2), 1e-9);
  }
  EXPECT_FALSE(half_interval({1}, 0.95).has_value());
}

TEST(Statistics, ComparisonOfOnePairOrOfEqualDifferencesSaysNoMoreThanItCan) {
  const PairedComparison one = compare_pairs({2}, {1}, 0.95);
  EXPECT_EQ(one.difference, 1);
  EXPECT_FALSE(one.half_width || one.p || one.effect);
  const PairedComparison equal = compare_pairs({2, 3}, {1, 2}, 0.95);
  EXPECT_EQ(equal.half_width, 0.0);
  EXPECT_FALSE(equal.effect.has_value());
}

/// Worked by hand: the smallest of four times 4, the next times 3, and so on, none below the one before.
TEST(Statistics, HolmCorrectsStepByStep) {
  const std::vector<double> corrected = holm({0.01, 0.04, 0.03, 0.005});
  const std::vector<double> expected{0.03, 0.06, 0.06, 0.02};
  ASSERT_EQ(corrected.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(corrected[i], expected[i], 1e-15);
  EXPECT_EQ(holm({0.6, 0.7}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace xlm
