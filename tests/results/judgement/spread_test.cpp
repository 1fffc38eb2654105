// Spreads against SciPy.
#include "results/judgement/spread.h"

#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "results/judgement/student.h"
#include "results/store/statistics.h"
#include "tests/growth.h"
#include "tests/results/simulations.h"

namespace xlm {
namespace {

// scipy.stats.f_oneway of the distances from the median, without the one that follows from the others.
TEST(Spread, LevenesTestIsSciPys) {
  EXPECT_NEAR(*equal_spread_test({{1.1, 1.2, 1.15}, {2.0, 2.3}, {0.5, 0.51, 0.56, 0.49}}), 0.010206781993715438, 1e-10);
  EXPECT_NEAR(*equal_spread_test({{1, 2, 4}, {1, 1.1, 1.3}, {3, 3.02, 3.7, 3.1}}), 0.05498996642840744, 1e-10);
  EXPECT_FALSE(equal_spread_test({{1, 2}, {1, 5}})) << "two values each do not show it";
  EXPECT_FALSE(equal_spread_test({{1, 2, 3}}));
  EXPECT_EQ(equal_spread_test({{1, 2, 3}, {4, 5, 6}}), 1.0);
  EXPECT_EQ(equal_spread_test({{1, 2, 3}, {4, 4, 4}}), 0.0);
}

TEST(Spread, SamplesArePooledByTheirDegreesOfFreedom) {
  const std::optional<SpreadEstimate> pooled =
      pooled_spread({*spread_of({1.1, 1.2, 1.15}), *spread_of({2.0, 2.3}), *spread_of({0.5, 0.51, 0.56, 0.49})});
  EXPECT_NEAR(pooled->deviation, 0.09389710680668845, 1e-12);
  EXPECT_EQ(pooled->freedom, 6);
  EXPECT_FALSE(pooled_spread({}).has_value());
  EXPECT_FALSE(spread_of({1}).has_value());
}

// Smyth's estimate by scipy 1.17 (brentq of polygamma).
TEST(Spread, TheModeratedSpreadIsSmyths) {
  const std::vector<SpreadEstimate> unlike{{0.1, 2}, {0.5, 2}, {0.02, 3}, {0.3, 4}};
  const std::optional<SpreadEstimate> prior = common_prior(unlike);
  EXPECT_NEAR(prior->deviation, 0.07326245231642785, 1e-10);
  EXPECT_NEAR(prior->freedom, 0.8106655347241006, 1e-8);
  const SpreadEstimate one = moderated(unlike[1], *prior, *pooled_spread(unlike));
  EXPECT_NEAR(one.deviation, 0.4236058274769951, 1e-9);
  EXPECT_NEAR(one.freedom, 2.8106655347241007, 1e-8);
  EXPECT_NEAR(moderated({}, *prior, *pooled_spread(unlike)).freedom, 0.8106655347241006, 1e-8);
  const std::vector<SpreadEstimate> alike{{0.1, 2}, {0.11, 2}, {0.12, 2}};
  EXPECT_EQ(moderated(alike[0], *common_prior(alike), *pooled_spread(alike)).freedom, 6) << "they are pooled";
  EXPECT_FALSE(common_prior({{0.1, 2}}));
}

// scipy.stats.f.sf(9, 2, 8) = 0.0090, f.sf(4, 2, 8) = 0.0625.
TEST(Spread, ANoisierSampleIsSeen) {
  EXPECT_TRUE(is_noisier({3, 2}, {1, 8}));
  EXPECT_FALSE(is_noisier({2, 2}, {1, 8}));
  EXPECT_FALSE(is_noisier({0.001, 2}, {1, 8})) << "a quieter one is none";
}

TEST(Spread, TheStepOfDigitsIsSeen) {
  EXPECT_EQ(step_of({38, 12}), 1);
  EXPECT_DOUBLE_EQ(step_of({1.5, 1.25}), 0.01);
  EXPECT_DOUBLE_EQ(step_of({0.1 + 0.2, 1.1 * 3}), 0.1) << "what binary fractions leave is no digit";
  EXPECT_EQ(step_of({1.5, 1 / 3.0}), 0);
  EXPECT_EQ(step_of({0, 0}), 0);
  EXPECT_DOUBLE_EQ(step_of({1.13e-7, 8.4e-7, 0}), 1e-9) << "a number far below 1 is no whole one";
  EXPECT_DOUBLE_EQ(step_of({2, 2 + 1e-7}), 1e-7);
  EXPECT_EQ(step_of({1e5, 1e5 + 1e-4 / 3}), 0);
  EXPECT_DOUBLE_EQ(step_of({static_cast<double>(0.93F), static_cast<double>(0.9F)}), 0.01) << "floats have few bits";
  EXPECT_DOUBLE_EQ(step_of({1.94 - 1.31, 0.25 - 0.22}), 0.01) << "a difference has lost some";
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

/// Cells in a few digits, so that some are the same, and some with runs in common.
SpreadPool pool_of(int count, std::vector<std::vector<double>>& cells) {
  SpreadPool spreads("test.bpc", SpreadSource::kAuto);
  NormalNumbers normal(7);
  for (int i = 0; i < count; ++i) {
    std::vector<double> cell = normal.next(3, 1, i % 5 == 0 ? 3 : 1);
    for (double& value : cell) value = std::round(2 * value) / 2;
    spreads.add({{fmt::to_string(i)}, cell}, {fmt::format("run {}", i % 11 == 0 ? i + 1 : i)});
    cells.push_back(cell);
  }
  spreads.settle();
  return spreads;
}

// What a cell is compared with, added up again for each.
TEST(Spread, ACellIsComparedWithThoseThatAreNotLikeIt) {
  std::vector<std::vector<double>> cells;
  const SpreadPool spreads = pool_of(60, cells);
  std::vector<std::vector<std::size_t>> groups;  // cells that share a run: 0 and 1, 11 and 12, …
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (sample_deviation(cells[i]) == 0) continue;
    const bool joins = i % 11 == 1 && !groups.empty() && groups.back().back() == i - 1;
    if (!joins) groups.emplace_back();
    groups.back().push_back(i);
  }
  int noisy = 0;
  for (const std::vector<double>& cell : cells) {
    const std::optional<SpreadEstimate> own = spread_of(cell);
    if (own->deviation == 0) continue;
    std::vector<SpreadEstimate> others;
    for (const std::vector<std::size_t>& group : groups) {
      std::vector<SpreadEstimate> of_group;
      bool has_it = false;
      for (const std::size_t i : group) {
        of_group.push_back(*spread_of(cells[i]));
        has_it = has_it || cells[i] == cell;
      }
      if (!has_it) others.push_back({pooled_spread(of_group)->deviation, 2});
    }
    EXPECT_EQ(spreads.is_noisy(cell), is_noisier(*own, *pooled_spread(others)));
    noisy += spreads.is_noisy(cell) ? 1 : 0;
  }
  EXPECT_GT(noisy, 3);
}

TEST(Spread, TimeIsInProportionToTheCells) {
  const auto pool = [](int count) {
    SpreadPool spreads("test.bpc", SpreadSource::kAuto);
    NormalNumbers normal(11);
    for (int i = 0; i < count; ++i) spreads.add({{"1", "2", "3"}, normal.next(3, 0, 1)}, {fmt::format("run {}", i)});
    spreads.settle();
  };
  EXPECT_LT(growth([&] { pool(1000); }, [&] { pool(16'000); }), 64);
}

// Twelve cells, of which the first is noisier. Pooling alone covers it in 49 to 75 %, and each cell's own spread gives
// intervals twice as wide for three seeds.
TEST(SpreadSimulation, CellsCoverAndTheNoisyOneToo) {
  const int samples = simulate_in_full() ? 20'000 : 1'500;
  constexpr int kCells = 12;
  NormalNumbers normal(53);
  for (const int seeds : {2, 3, 4, 5, 8}) {
    for (const double ratio : {1.0, 2.0, 3.0, 5.0}) {
      int held = 0;
      int noisy_held = 0;
      for (int i = 0; i < samples; ++i) {
        SpreadPool spreads("test.bpc", SpreadSource::kAuto);
        std::vector<std::vector<double>> cells;
        for (int cell = 0; cell < kCells; ++cell) {
          cells.push_back(normal.next(static_cast<std::size_t>(seeds), 0, cell == 0 ? ratio : 1));
          spreads.add({{std::to_string(cell)}, cells.back()}, {std::to_string(cell)});
        }
        spreads.settle();
        for (const std::vector<double>& cell : cells) {
          const SpreadEstimate spread = *spreads.of(cell);
          const double half = student_factor(kLevel, spread.freedom) * spread.deviation / std::sqrt(seeds);
          const int holds = std::abs(mean(cell)) <= half ? 1 : 0;
          held += holds;
          if (&cell == &cells.front()) noisy_held += holds;
        }
      }
      const double share = static_cast<double>(held) / samples / kCells;
      const double of_noisy = static_cast<double>(noisy_held) / samples;
      const auto name = ::testing::Message() << seeds << " seeds, one cell " << ratio << " times as noisy";
      if (simulate_in_full()) std::cout << name.GetString() << ": " << share << ", that cell " << of_noisy << "\n";
      EXPECT_GE(share, 0.93) << name;
      EXPECT_LE(share, 0.97) << name;
      EXPECT_GE(of_noisy, seeds >= 5 ? 0.90 : 0.70) << name;
    }
  }
}

TEST(Spread, ACommonSeedThatMovesAllSamplesIsNoFurtherEvidence) {
  const std::vector<std::string> seeds{"1", "2", "3"};
  EXPECT_DOUBLE_EQ(independent_share({{seeds, {1, 2, 4}}, {seeds, {11, 12, 14}}, {seeds, {0, 1, 3}}}), 1.0 / 3);
  EXPECT_DOUBLE_EQ(independent_share({{seeds, {1, 2, 4}}, {{"4", "5", "6"}, {11, 12, 14}}}), 1) << "other seeds";
  // Deviations (-1, 0, 1) and (1, 0, -1): their means are 0, so all 4 of the squares are of the rest, with 2 degrees.
  EXPECT_DOUBLE_EQ(independent_share({{seeds, {1, 2, 3}}, {seeds, {3, 2, 1}}}), 0.5);
  // (-1, 0, 1) and (0, 0, 0): 1 between seeds, 1 of the rest, 2 degrees each.
  EXPECT_DOUBLE_EQ(independent_share({{seeds, {1, 2, 3}}, {seeds, {2, 2, 2}}}), 1);
  EXPECT_DOUBLE_EQ(independent_share({}), 1);
}

// Six cells of common seeds. Without that share the intervals of two, three and four seeds hold in 87, 90 and 91 % if
// numbers of a seed correlate by 0.8.
TEST(SpreadSimulation, CellsOfCommonSeedsCover) {
  const int samples = simulate_in_full() ? 20'000 : 1'500;
  NormalNumbers normal(59);
  for (const auto& [seeds, correlation, least] :
       {std::tuple(2U, 0.0, 0.94), {3U, 0.0, 0.94}, {2U, 0.8, 0.89}, {3U, 0.8, 0.91}, {4U, 0.8, 0.92}}) {
    const std::vector<std::string> names{"1", "2", "3", "4"};
    int held = 0;
    for (int i = 0; i < samples; ++i) {
      SpreadPool spreads("test.bpc", SpreadSource::kAuto);
      const std::vector<double> common = normal.next(seeds, 0, std::sqrt(correlation));
      std::vector<std::vector<double>> cells;
      for (int cell = 0; cell < 6; ++cell) {
        std::vector<double>& numbers = cells.emplace_back(normal.next(seeds, 0, std::sqrt(1 - correlation)));
        for (std::size_t seed = 0; seed < seeds; ++seed) numbers[seed] += common[seed];
        spreads.add({{names.begin(), names.begin() + seeds}, numbers}, {std::to_string(cell)});
      }
      spreads.settle();
      for (const std::vector<double>& cell : cells) {
        const SpreadEstimate spread = *spreads.of(cell);
        held += std::abs(mean(cell)) <= student_factor(kLevel, spread.freedom) * spread.deviation / std::sqrt(seeds);
      }
    }
    const double share = static_cast<double>(held) / samples / 6;
    const auto name = ::testing::Message() << seeds << " seeds, correlation " << correlation;
    if (simulate_in_full()) std::cout << name.GetString() << ": " << share << "\n";
    EXPECT_GE(share, least) << name;
    EXPECT_LE(share, 0.97) << name;
  }
}

}  // namespace
}  // namespace xlm
