// Trends: slopes compared with numbers computed elsewhere, and how often they are confirmed.
#include "results/claims/trend.h"

#include <array>
#include <cmath>
#include <iostream>
#include <iterator>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/judgement/limits.h"
#include "tests/results/claims/claims.h"
#include "tests/results/simulations.h"

namespace xlm {
namespace {

TEST(ClaimTrend, ASeedHasOneSlope) {
  // scipy 1.17: linregress([1, 2, 3, 4], [2, 3, 5, 6]).slope = 1.4; points of one seed do not show how others differ.
  const std::optional<Trend> trend = trend_of({{"1", 1, 2}, {"1", 2, 3}, {"1", 3, 5}, {"1", 4, 6}});
  ASSERT_TRUE(trend);
  EXPECT_NEAR(trend->slope.value, 1.4, 1e-12);
  EXPECT_FALSE(trend->slope.has_error());
}

TEST(ClaimTrend, SeedsHaveTheirOwnLevels) {
  // Slopes of 1, 1.5 and 2: mean 1.5, standard error 0.5/√3.
  const std::optional<Trend> trend = trend_of({{"1", 1, 1},
                                               {"1", 2, 2},
                                               {"1", 3, 3},
                                               {"2", 1, 11},
                                               {"2", 2, 12.5},
                                               {"2", 3, 14},
                                               {"3", 1, 3},
                                               {"3", 2, 5},
                                               {"3", 3, 7},
                                               {"4", 3, 100}});
  ASSERT_TRUE(trend);
  EXPECT_DOUBLE_EQ(trend->slope.value, 1.5);
  EXPECT_NEAR(trend->slope.error, 0.5 / std::sqrt(3.0), 1e-12);
  EXPECT_EQ(trend->slope.freedom, 2);
  EXPECT_EQ(trend->slope.seeds, 3);
  EXPECT_EQ(trend->incomplete, 1);
}

TEST(ClaimTrend, ASeedThatLacksAPlaceHasAnotherSlopeAndIsLeftOut) {
  std::vector<TrendPoint> points;
  for (const char* seed : {"1", "2"}) {
    for (const auto& [x, y] : {std::pair(1.0, 3.0), {2.0, 2.0}, {4.0, 3.0}, {8.0, 4.0}}) points.push_back({seed, x, y});
  }
  const double whole = trend_of(points)->slope.value;
  EXPECT_GT(whole, 0.1);
  for (const char* seed : {"3", "4", "5"}) points.insert(points.end(), {{seed, 1, 3}, {seed, 2, 2}});
  points.push_back({"1", 16, -50});  // which no other seed has
  const std::optional<Trend> trend = trend_of(points);
  EXPECT_EQ(trend->slope.value, whole);
  EXPECT_EQ(trend->slope.seeds, 2);
  EXPECT_EQ(trend->incomplete, 3);
  EXPECT_THAT(trend->lone, ::testing::ElementsAre(16));
  EXPECT_THAT(trend->turns, ::testing::ElementsAre(2));
  EXPECT_FALSE(trend_of({{"1", 1, 1}, {"1", 2, 2}, {"2", 2, 1}, {"2", 4, 2}, {"3", 1, 1}, {"3", 4, 2}}));
}

TEST(ClaimTrend, AMeasuredPlaceIsThatOfItsSetting) {
  // Seed 3 lacks the setting b.
  const std::vector<TrendPoint> points{{"1", 2.1, 5, 0, "a"}, {"1", 3.1, 4, 0, "b"}, {"1", 4.1, 2, 0, "c"},
                                       {"2", 1.9, 6, 0, "a"}, {"2", 2.9, 5, 0, "b"}, {"2", 3.9, 3, 0, "c"},
                                       {"3", 2.0, 5, 0, "a"}, {"3", 4.0, 9, 0, "c"}};
  const std::optional<Trend> trend = trend_of(points);
  ASSERT_TRUE(trend);
  EXPECT_NEAR(trend->slope.value, -1.5, 1e-12);
  EXPECT_EQ(trend->slope.seeds, 2);
  EXPECT_EQ(trend->incomplete, 1);
  EXPECT_THAT(trend->turns, ::testing::IsEmpty());
}

TEST(ClaimTrend, DivergedSeedsMayCountAsTheWorst) {
  const std::vector<TrendPoint> points{{"1", 1, 3},    {"1", 2, 2},     {"2", 1, 3.1},
                                       {"2", 2, 0, 1}, {"3", 1, 0, -1}, {"3", 2, 1}};
  EXPECT_EQ(trend_of(points)->slope.seeds, 1);
  const std::optional<Trend> worst = trend_of(with_worst(points, 1));
  EXPECT_EQ(worst->slope.seeds, 3);
  EXPECT_NEAR(worst->slope.value, 2e6, 1e6);
  EXPECT_EQ(by_place(points).at(2).size(), 2U);
}

TEST_F(Claims, TrendsAndFormulasSayWhatDivergedSeedsWouldChange) {
  add("fixed", 64, 4, 1.95);
  add("fixed", 128, 4, 9, "text8", "diverged");
  add("adaptive", 64, 4, 9, "text8", "diverged");
  const std::string fixed = "claim: c\nvalue: test.bpc\nalong: model.span\na: {model.span_type: fixed}\n";
  EXPECT_EQ(judged(fixed + "trend: tends to fall\n").parts.front().worst_case, std::nullopt) << "it lacks 256, too";
  add("fixed", 256, 4, 1.75);
  const JudgedClaim slope = judged(fixed + "trend: tends to fall\n");
  EXPECT_EQ(slope.verdict, Verdict::kConfirmed);
  EXPECT_EQ(slope.parts.front().diverged, 1);
  EXPECT_EQ(slope.parts.front().seeds, 3);
  EXPECT_EQ(slope.parts.front().worst_case, Verdict::kUndecided);
  const JudgedClaim steps = judged(fixed + "trend: falls\n");
  EXPECT_EQ(steps.parts.front().diverged, 1);
  EXPECT_EQ(steps.parts.front().worst_case, Verdict::kUndecided);
  const JudgedClaim formula = judged(
      "claim: c\nvalue: =test.bpc[a] - test.bpc[b]\nat_most: 0\nwhere: {model.span: 64}\n"
      "a: {model.span_type: adaptive}\nb: {model.span_type: fixed}\n");
  EXPECT_EQ(formula.verdict, Verdict::kConfirmed);
  EXPECT_EQ(formula.parts.front().worst_case, Verdict::kUndecided);
}

TEST(ClaimTrend, WhereTheMeansTurnIsSaid) {
  const std::optional<Trend> trend = trend_of({{"1", 1, 3}, {"1", 2, 2}, {"1", 4, 1}, {"1", 8, 2}, {"1", 16, 3}});
  EXPECT_THAT(trend->turns, ::testing::ElementsAre(4));
}

/// Whether each step falls, as a claim asks for.
bool every_step_falls(const std::vector<TrendPoint>& points) {
  const std::map<double, ByGroup> places = by_place(points);
  for (auto from = places.begin(); std::next(from) != places.end(); ++from) {
    const Estimate step = compare_seeds(std::next(from)->second, from->second).difference;
    if (test_limits(step, {.high = 0, .open = true}).decision != Decision::kInside) return false;
  }
  return true;
}

// Falls by 2 to the third place and rises by 1 to the last: a slope confirms "falls" in half of such series with three
// seeds and in all with ten.
TEST(TrendSimulation, WhatTurnsIsNotConfirmedAndSlopesCover) {
  const int samples = simulate_in_full() ? 40'000 : 3'000;
  constexpr std::array<double, 5> kTurning{2, 1, 0, 0.5, 1};
  constexpr std::array<double, 5> kFalling{12, 9, 6, 3, 0};
  NormalNumbers normal(61);
  for (const int seeds : {3, 10}) {
    int confirmed = 0;
    int found = 0;
    int held = 0;
    for (int i = 0; i < samples; ++i) {
      std::vector<TrendPoint> turning;
      std::vector<TrendPoint> falling;
      for (int seed = 0; seed < seeds; ++seed) {
        const double level = normal.next();
        for (std::size_t place = 0; place < kTurning.size(); ++place) {
          const auto x = static_cast<double>(place);
          turning.push_back({std::to_string(seed), x, level + kTurning.at(place) + 0.5 * normal.next()});
          falling.push_back({std::to_string(seed), x, level + kFalling.at(place) + 0.5 * normal.next()});
        }
      }
      confirmed += every_step_falls(turning) ? 1 : 0;
      found += every_step_falls(falling) ? 1 : 0;
      const Estimate slope = trend_of(falling)->slope;
      held += std::abs(slope.value + 3) <= *half_width_of(slope, kLevel) ? 1 : 0;
    }
    const auto share = [&](int count) { return static_cast<double>(count) / samples; };
    if (simulate_in_full())
      std::cout << seeds << " seeds: turning series confirmed " << share(confirmed) << ", falling ones " << share(found)
                << ", slopes cover " << share(held) << "\n";
    EXPECT_LE(share(confirmed), 0.025) << seeds;
    EXPECT_GE(share(found), 0.5) << seeds;
    EXPECT_NEAR(share(held), 0.95, 3 * std::sqrt(0.05 * 0.95 / samples)) << seeds;
  }
}

TEST(ClaimTrend, WithoutSeveralPlacesWithinASeedThereIsNone) {
  EXPECT_FALSE(trend_of({{"1", 1, 1}, {"2", 2, 2}}));
  EXPECT_FALSE(trend_of({}));
}

}  // namespace
}  // namespace xlm
