// Comparisons of the parts of a text: against numbers computed elsewhere, and how often intervals hold, by simulation
// with fixed seeds (longer with XLM_SIMULATIONS=full).
#include "results/judgement/part_comparison.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/results/simulations.h"

namespace xlm {
namespace {

/// The text of tests/golden/part_comparison.py.
PartComparison golden(double shift, double wave) {
  std::vector<double> a;
  std::vector<std::int64_t> tokens;
  for (int i = 0; i < 40; ++i) {
    tokens.push_back(50 + i % 7);
    a.push_back((50 + i % 7) * (shift + 0.1 * std::cos(3 * i) + wave * std::sin(i / 5.0)));
  }
  a.insert(a.begin() + 3, 0);
  tokens.insert(tokens.begin() + 3, 0);
  return compare_parts(a, std::vector<double>(a.size(), 0.0), tokens, 0.95);
}

TEST(PartComparisons, AgreeWithNumbersComputedElsewhere) {
  const PartComparison alike = golden(0.03, 0.05);
  EXPECT_EQ(alike.parts, 40) << "one has no tokens";
  EXPECT_EQ(alike.freedom, 4);
  EXPECT_NEAR(alike.difference, 0.036836350547833706, 1e-15);
  EXPECT_NEAR(alike.low, -0.010438848570867708, 1e-12);
  EXPECT_NEAR(alike.high, 0.08411154966653511, 1e-12);
  EXPECT_NEAR(alike.p, 0.09652316094205907, 1e-12);
  EXPECT_NEAR(alike.effective, 20.296054112071946, 1e-9);
  const PartComparison independent = golden(0.03, 0);
  EXPECT_EQ(independent.freedom, 39);
  EXPECT_EQ(independent.effective, 40);
  EXPECT_NEAR(independent.low, 0.008317163386576544, 1e-12);
  EXPECT_NEAR(independent.p, 0.008169626157188659, 1e-12);
}

TEST(PartComparisons, EqualLossesAreNotToldApartAndConstantOnesAre) {
  const std::vector<double> a{1, 2, 3};
  const std::vector<std::int64_t> tokens{4, 4, 4};
  const PartComparison equal = compare_parts(a, a, tokens, 0.95);
  EXPECT_EQ(equal.low, 0);
  EXPECT_EQ(equal.high, 0);
  EXPECT_EQ(equal.p, 1);
  const PartComparison apart = compare_parts({5, 6, 7}, a, tokens, 0.95);
  EXPECT_EQ(apart.low, 1);
  EXPECT_EQ(apart.high, 1);
  EXPECT_EQ(apart.p, 0);
}

struct Held {
  double all = 0;    // share of intervals that hold the truth
  double given = 0;  // of those that are given: with enough effective parts
};

/// Of so many parts whose differences are an autoregression with this correlation of neighbours.
Held held_by_intervals(std::size_t parts, double correlation, int texts) {
  NormalNumbers normal(51);
  const std::vector<std::int64_t> tokens(parts, 10);
  const std::vector<double> other(parts, 0.0);
  int held = 0;
  int held_given = 0;
  int given = 0;
  for (int text = 0; text < texts; ++text) {
    std::vector<double> differences;
    double last = normal.next();
    for (std::size_t i = 0; i < parts; ++i) {
      differences.push_back(last);
      last = correlation * last + std::sqrt(1 - correlation * correlation) * normal.next();
    }
    const PartComparison made = compare_parts(differences, other, tokens, 0.95);
    const bool holds = made.low <= 0 && made.high >= 0;
    held += holds ? 1 : 0;
    if (made.effective < kLeastParts) continue;
    ++given;
    held_given += holds ? 1 : 0;
  }
  return {static_cast<double>(held) / texts, static_cast<double>(held_given) / given};
}

// Parts taken as independent cover 57–60 % of text8, whose neighbouring differences correlate by 0.3–0.5.
TEST(PartComparisonSimulation, IntervalsOfDependentPartsHoldTheTruth) {
  const bool full = simulate_in_full();
  for (const double correlation : {0.0, 0.3, 0.5}) {
    const int texts = full ? 20'000 : 1'000;
    const double error = 3 * std::sqrt(0.05 * 0.95 / texts);
    const Held held = held_by_intervals(100, correlation, texts);
    EXPECT_GE(held.all, 0.93 - error) << correlation;
    EXPECT_LE(held.all, 0.98) << correlation;
    EXPECT_GE(held.given, 0.915 - 1.5 * error) << correlation << ": refusing takes the luckier ones away";
  }
  const int texts = full ? 5'000 : 60;
  const Held held = held_by_intervals(1'000, 0.8, texts);
  EXPECT_GE(held.all, 0.93 - 3 * std::sqrt(0.07 * 0.93 / texts));
}

}  // namespace
}  // namespace xlm
