// Differences from printed values: against numbers that SciPy computes, and by simulation. The simulations have fixed
// seeds; with XLM_SIMULATIONS=full (make soak) they are longer and cover every n and m.
#include "results/judgement/limits.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "results/store/statistics.h"
#include "tests/results/judgement/decision_chances.h"
#include "tests/results/simulations.h"

namespace xlm {
namespace {

/// Ours less a printed value, as tables test it.
struct Compared : LimitsTest {
  Estimate difference;
};

Compared compared(const OwnMean& ours, const PrintedMean& printed, double margin = 0) {
  const Estimate difference = difference_from_printed(ours, printed);
  return {test_limits(difference, Limits::within(margin)), difference};
}

OwnMean own_mean(const std::vector<double>& values) {
  return {.value = mean(values), .runs = static_cast<std::int64_t>(values.size()), .spread = *spread_of(values)};
}

// SciPy 1.17: s = x.std(ddof=1), e = s·√(1/n + 1/m), half_width = t.ppf(0.975, n − 1)·e + r,
// p = 2·t.sf((|d| − r − δ) / e, n − 1).
TEST(PrintedMeans, IntervalAndPAreThoseOfSciPy) {
  const OwnMean ours = own_mean({1.11, 1.12, 1.135});
  const PrintedMean of_three{.value = 1.10, .rounding = 0.0005, .runs = 3};
  const Compared three = compared(ours, of_three);
  EXPECT_NEAR(three.difference.value, 0.0216666666666667, 1e-12);
  EXPECT_NEAR(three.difference.error, 0.010274023338281587, 1e-12);
  EXPECT_EQ(three.difference.freedom, 2);
  EXPECT_NEAR(*three.half_width, 0.04470555456196695, 1e-10);
  EXPECT_NEAR(*three.p, 0.1755506066318393, 1e-9);
  const Compared one = compared(ours, {.value = 1.10, .rounding = 0.0005});
  EXPECT_NEAR(*one.half_width, 0.0630160947937575, 1e-10);
  EXPECT_NEAR(*one.p, 0.28248587570621236, 1e-9);
  EXPECT_NEAR(*compared(ours, of_three, 0.005).p, 0.2562408121997011, 1e-9);
}

// As above with s = 0.004 of 7 degrees of freedom, which a single seed shares.
TEST(PrintedMeans, OneSeedHasAnIntervalByASharedSpread) {
  const OwnMean ours{.value = 1.12, .runs = 1, .spread = {0.004, 7}, .is_pooled = true};
  const Compared result = compared(ours, {.value = 1.10, .rounding = 0.005, .runs = 2});
  EXPECT_NEAR(result.difference.error, 0.004898979485566356, 1e-12);
  EXPECT_NEAR(*result.half_width, 0.016584245699625747, 1e-10);
  EXPECT_NEAR(*result.p, 0.018275485329097202, 1e-9);
}

// F-test: 2·min(f.sf, f.cdf) of (0.004/0.006)², 3 and 2 degrees of freedom, is 0.506; of (0.001/0.02)², 5 and
// 3, 4.5e-6. Welch and Satterthwaite: ν = (a + b)² / (a²/5 + b²/3), a = 0.001²/6, b = 0.02²/4;
// scipy.stats.ttest_ind_from_stats gives t = −0.9991677 for a difference of −0.01.
TEST(PrintedMeans, APrintedDeviationIsPooledUnlessItIsAnother) {
  const OwnMean alike{.value = 1, .runs = 4, .spread = {0.004, 3}};
  const Compared pooled = compared(alike, {.value = 1, .runs = 3, .deviation = 0.006});
  EXPECT_EQ(pooled.difference.freedom, 5);
  EXPECT_NEAR(pooled.difference.error, 0.0037416573867739412, 1e-12);
  EXPECT_NEAR(*pooled.half_width, 0.009618236513615534, 1e-10);
  const OwnMean other{.value = 1, .runs = 6, .spread = {0.001, 5}};
  const Compared welch = compared(other, {.value = 1.01, .runs = 4, .deviation = 0.02});
  EXPECT_NEAR(welch.difference.freedom, 3.0100033166611393, 1e-9);
  EXPECT_NEAR(welch.difference.value / welch.difference.error, -0.9991677068886815, 1e-9);
  EXPECT_NEAR(*welch.half_width, 0.0317911732468745, 1e-9);
  EXPECT_NEAR(*welch.p, 0.3911250615604702, 1e-9);
}

TEST(PrintedMeans, WhatDoesNotVaryIsKnownButForTheRounding) {
  const OwnMean ours{.value = 2.04, .runs = 3, .spread = {0, 2}};
  const Compared within = compared(ours, {.value = 2.0, .rounding = 0.05});
  EXPECT_EQ(within.half_width, 0.05);
  EXPECT_EQ(within.p, 1);
  EXPECT_EQ(compared(ours, {.value = 2.0, .rounding = 0.005}).p, 0);
  EXPECT_FALSE(seeds_to_decide(ours, {.value = 2.0, .rounding = 0.05}, Limits::within(0.06), 1))
      << "further seeds have the same number";
}

TEST(PrintedMeans, DecideByTheIntervalAndTheMargin) {
  const auto decision = [](double difference, double half_width, double corrected_p, double margin) {
    const Limits limits = Limits::within(margin);
    return LimitsTest{.decision = decide(difference - half_width, difference + half_width, limits)}.corrected(
        corrected_p);
  };
  EXPECT_EQ(decision(0.002, 0.005, 1, 0.01), Decision::kInside);
  EXPECT_EQ(decision(-0.006, 0.005, 1, 0.01), Decision::kUndecided) << "its lower end is beyond the margin";
  EXPECT_EQ(decision(0.02, 0.005, 0.001, 0.01), Decision::kOutside);
  EXPECT_EQ(decision(0.02, 0.005, 0.2, 0.01), Decision::kUndecided) << "one of many";
  EXPECT_EQ(decision(0.02, 0.5, 0.9, 0), Decision::kUndecided);
  EXPECT_EQ(decision(0, 0.5, 1, 0.01), Decision::kUndecided) << "two noisy seeds are no agreement";
}

TEST(PrintedMeans, PIsBelowFivePercentExactlyWhereTheIntervalLiesOutside) {
  const PrintedMean printed{.value = 0, .rounding = 0.001, .runs = 3};
  for (const double margin : {0.0, 0.01}) {
    for (double value = -0.05; value < 0.05; value += 0.0007) {
      const Compared result = compared({.value = value, .runs = 3, .spread = {0.004, 9}}, printed, margin);
      const bool outside = std::abs(value) - *result.half_width > margin;
      EXPECT_EQ(result.decision == Decision::kOutside, outside) << value;
      if (std::abs(value) > margin) {
        EXPECT_EQ(*result.p < 0.05, outside) << value;
      }
    }
  }
}

// scipy.integrate.quad over the density of chi2(16): P(|d| ≤ δ − r − t·e·√(u/16)) and 1 − P(|d| ≤ δ + r + t·e·√(u/16)),
// d normal with mean D and deviation e = 0.004·√(1/3 + 1/m). Without margin and rounding: nct.sf + nct.cdf.
TEST(PrintedMeans, ChancesOfDecisionsAreThoseOfSciPy) {
  constexpr double kMargin = 0.01;
  const PrintedMean of_three{.value = 0, .rounding = 0.0005, .runs = 3};
  const DecisionChances equal = decision_chances(0, 0.004, 16, 3, of_three, kMargin);
  EXPECT_NEAR(equal.agrees, 0.5611946413645955, 1e-6);
  EXPECT_NEAR(equal.differs, 5.713784935302614e-07, 1e-7);
  const DecisionChances far =
      decision_chances(0.02, 0.004, 16, 3, {.value = 0, .rounding = 0.0005, .runs = 1}, kMargin);
  EXPECT_NEAR(far.agrees, 1.7214160536102615e-05, 1e-6);
  EXPECT_NEAR(far.differs, 0.4892066386142127, 1e-6);
  const DecisionChances power = decision_chances(0.01, 0.004, 16, 3, {.value = 0, .runs = 3}, 0);
  EXPECT_NEAR(power.differs, 0.8196230650780425, 1e-6);
  EXPECT_EQ(power.agrees, 0) << "no margin";
}

// The first n, tried one by one in Python, with the sum of two scipy.stats.nct.sf at t·e/(s/√n), less 1, or with one of
// them beyond the margin: 0.755 with 5 and 0.808 with 6, 0.775 and 0.818, 0.798 and 0.805.
TEST(PrintedMeans, SeedsToDecideAreTheFirstThatHaveTheChance) {
  const PrintedMean of_three{.value = 0, .rounding = 0.0005, .runs = 3};
  const auto seeds = [&](double difference, double freedom, bool is_pooled, const PrintedMean& printed,
                         std::size_t tests) {
    const OwnMean ours{.value = difference, .runs = 3, .spread = {0.004, freedom}, .is_pooled = is_pooled};
    return seeds_to_decide(ours, printed, Limits::within(0.01), tests);
  };
  EXPECT_EQ(seeds(0.002, 16, true, of_three, 1), 6);
  EXPECT_EQ(seeds(0.002, 2, false, of_three, 1), 10) << "the spread of few seeds is uncertain itself";
  EXPECT_FALSE(seeds(0.009, 16, true, of_three, 1).has_value()) << "too near to the margin";
  const PrintedMean of_one{.value = 0, .rounding = 0.0005, .runs = 1};
  EXPECT_EQ(seeds(0.025, 16, true, of_one, 24), 33);
  EXPECT_FALSE(seeds(0.002, 16, true, of_one, 1).has_value()) << "the paper's one run is too few";
}

/// Means and spreads of normal runs, as they come out of n runs.
class SimulatedRuns {
 public:
  explicit SimulatedRuns(std::uint64_t seed) : engine_(seed) {}

  std::vector<double> values(std::int64_t runs, double centre = 0) {
    std::vector<double> drawn;
    for (std::int64_t i = 0; i < runs; ++i) drawn.push_back(centre + normal_(engine_));
    return drawn;
  }

 private:
  std::mt19937_64 engine_;
  std::normal_distribution<double> normal_;
};

/// How often the interval holds the true difference, which is 0, where each cell has n runs and the paper m.
double coverage(std::int64_t n, std::int64_t m, bool pooled, int repetitions, std::uint64_t seed) {
  constexpr int kOtherCells = 5;
  SimulatedRuns simulated(seed);
  int covered = 0;
  for (int i = 0; i < repetitions; ++i) {
    const std::vector<double> values = simulated.values(n);
    OwnMean ours = own_mean(values);
    if (pooled) {
      std::vector<SpreadEstimate> spreads{ours.spread};
      for (int cell = 0; cell < kOtherCells; ++cell) spreads.push_back(*spread_of(simulated.values(n)));
      ours.spread = *pooled_spread(spreads);
      ours.is_pooled = true;
    }
    const Compared result = compared(ours, {.value = mean(simulated.values(m)), .runs = m});
    covered += result.decision == Decision::kOutside ? 0 : 1;
  }
  return static_cast<double>(covered) / repetitions;
}

TEST(PrintedMeansSimulation, IntervalsHoldTheTruthAsOftenAsTheySay) {
  const bool full = simulate_in_full();
  const int repetitions = full ? 20'000 : 2'000;
  for (std::int64_t n = 2; n <= 10; ++n) {
    for (std::int64_t m = 1; m <= 5; ++m) {
      const bool is_sampled = (n == 2 || n == 3 || n == 10) && (m == 1 || m == 3 || m == 5);
      if (!full && !is_sampled) continue;
      for (const bool pooled : {false, true}) {
        const double share = coverage(n, m, pooled, repetitions, static_cast<std::uint64_t>(100 * n + 10 * m));
        EXPECT_GE(share, 0.93) << n << " runs of ours, " << m << " of the paper's, pooled: " << pooled;
        EXPECT_LE(share, 0.97) << n << " runs of ours, " << m << " of the paper's, pooled: " << pooled;
      }
    }
  }
}

// Half of a digit that is as large as the spread itself: the interval may only become safer.
TEST(PrintedMeansSimulation, RoundingOfThePrintedMeanIsCovered) {
  SimulatedRuns simulated(7);
  constexpr double kDigit = 0.5;
  const int repetitions = simulate_in_full() ? 50'000 : 3'000;
  int covered = 0;
  for (int i = 0; i < repetitions; ++i) {
    const double printed = std::round(mean(simulated.values(3, 0.2)) / kDigit) * kDigit;
    const Compared result =
        compared(own_mean(simulated.values(4, 0.2)), {.value = printed, .rounding = kDigit / 2, .runs = 3});
    covered += result.decision == Decision::kOutside ? 0 : 1;
  }
  EXPECT_GE(static_cast<double>(covered) / repetitions, 0.94);
}

TEST(PrintedMeansSimulation, APrintedDeviationKeepsTheCoverage) {
  SimulatedRuns simulated(11);
  const int repetitions = simulate_in_full() ? 50'000 : 3'000;
  for (const std::int64_t n : {2, 5, 10}) {
    for (const std::int64_t m : {2, 5}) {
      int covered = 0;
      for (int i = 0; i < repetitions; ++i) {
        const std::vector<double> papers = simulated.values(m);
        const PrintedMean printed{.value = mean(papers), .runs = m, .deviation = sample_deviation(papers)};
        const Compared result = compared(own_mean(simulated.values(n)), printed);
        covered += result.decision == Decision::kOutside ? 0 : 1;
      }
      const double share = static_cast<double>(covered) / repetitions;
      EXPECT_GE(share, 0.93) << n << " and " << m;
      EXPECT_LE(share, 0.97) << n << " and " << m;
    }
  }
}

/// How often an experiment with a true difference ends with each decision.
TEST(PrintedMeansSimulation, ChancesAreHowOftenItHappens) {
  const int repetitions = simulate_in_full() ? 50'000 : 4'000;
  const double error = 3 * 0.5 / std::sqrt(repetitions);  // three standard errors of a share
  SimulatedRuns simulated(13);
  constexpr double kMargin = 2.5;
  for (const double truth : {0.0, 2.5, 5.0}) {
    int agrees = 0;
    int differs = 0;
    for (int i = 0; i < repetitions; ++i) {
      const OwnMean ours = own_mean(simulated.values(5, truth));
      const PrintedMean printed{.value = mean(simulated.values(3)), .rounding = 0.1, .runs = 3};
      const Decision decision = compared(ours, printed, kMargin).decision;
      agrees += decision == Decision::kInside ? 1 : 0;
      differs += decision == Decision::kOutside ? 1 : 0;
    }
    const DecisionChances chances = decision_chances(truth, 1, 4, 5, {.value = 0, .rounding = 0.1, .runs = 3}, kMargin);
    EXPECT_NEAR(static_cast<double>(agrees) / repetitions, chances.agrees, error) << truth;
    EXPECT_NEAR(static_cast<double>(differs) / repetitions, chances.differs, error) << truth;
  }
}

}  // namespace
}  // namespace xlm
