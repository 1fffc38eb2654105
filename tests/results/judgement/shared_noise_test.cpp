// Spreads that settings share, against statsmodels and by simulation.
#include "results/judgement/shared_noise.h"

#include <array>
#include <cmath>
#include <iostream>

#include <gtest/gtest.h>

#include "results/judgement/limits.h"
#include "tests/results/simulations.h"

namespace xlm {
namespace {

ByGroup by_seeds(const std::vector<double>& numbers, int first = 1) {
  ByGroup seeds;
  for (std::size_t i = 0; i < numbers.size(); ++i) seeds[std::to_string(first + static_cast<int>(i))] = {numbers[i]};
  return seeds;
}

// statsmodels 0.14: √mse of y ~ C(setting), and √(2·mse) of y ~ C(setting) + C(seed), with their degrees of freedom.
TEST(SharedNoise, IsTheResidueOfAnAnalysisOfVariance) {
  const SharedNoise noise =
      shared_noise({by_seeds({1.0, 1.2, 1.1}), by_seeds({2.0, 2.3, 2.05}), by_seeds({3.1, 3.15, 3.2})});
  EXPECT_EQ(noise.of_runs->settings, 3U);
  EXPECT_NEAR(noise.of_runs->spread.deviation, 0.11303883305208777, 1e-12);
  // Six, less what common seeds move: sums of squares of 0.0467 between seeds, 2 degrees, and 0.03 of the rest, 4.
  EXPECT_NEAR(noise.of_runs->spread.freedom, 4.0581748441745304, 1e-12);
  EXPECT_NEAR(noise.of_pairs->spread.deviation, 0.11426091000668413, 1e-12);
  EXPECT_NEAR(noise.of_pairs->spread.freedom, 4, 1e-12);
  EXPECT_TRUE(noise.of_pairs->test_p);
}

TEST(SharedNoise, OfTwoSettingsIsThatOfTheirPairs) {
  const SharedNoise noise = shared_noise({by_seeds({1.0, 1.2, 1.1}), by_seeds({2.0, 2.3, 2.05})});
  EXPECT_NEAR(noise.of_pairs->spread.deviation, 0.07637626158259737, 1e-12) << "numpy: std of the differences";
  EXPECT_NEAR(noise.of_pairs->spread.freedom, 2, 1e-12);
  EXPECT_FALSE(noise.of_pairs->test_p);
  EXPECT_FALSE(shared_noise({by_seeds({1.0, 1.2}), by_seeds({2.0, 2.3}, 7)}).of_pairs) << "no seed is common";
  EXPECT_FALSE(shared_noise({by_seeds({1.0}), by_seeds({2, 2, 2})}).of_runs) << "nothing varies";
}

/// Numbers of six settings with the same seeds, whose levels differ, too.
std::vector<ByGroup> six_settings(NormalNumbers& normal, std::size_t seeds, double correlation) {
  const std::vector<double> levels = normal.next(seeds, 0, std::sqrt(correlation));
  std::vector<ByGroup> settings;
  for (int setting = 0; setting < 6; ++setting) {
    std::vector<double> numbers = normal.next(seeds, 0, std::sqrt(1 - correlation));
    for (std::size_t i = 0; i < seeds; ++i) numbers[i] += levels[i];
    settings.push_back(by_seeds(numbers));
  }
  return settings;
}

// Two of six settings are compared by pairs with the spread that all share. Two pairs alone need a difference of 6.5
// standard deviations to be told apart in half of the cases, three pairs one of 2.4.
TEST(SharedNoiseSimulation, PooledDifferencesCoverAndFindMore) {
  const int samples = simulate_in_full() ? 40'000 : 3'000;
  NormalNumbers normal(59);
  for (const std::size_t seeds : {std::size_t{2}, std::size_t{3}, std::size_t{5}}) {
    for (const double correlation : {0.0, 0.8}) {
      const double difference = 3 * std::sqrt((1 - correlation) * 2 / static_cast<double>(seeds));
      std::array<int, 2> wrong{};
      std::array<int, 2> found{};
      for (int i = 0; i < samples; ++i) {
        const std::vector<ByGroup> settings = six_settings(normal, seeds, correlation);
        const Estimate own = compare_seeds(settings[0], settings[1]).difference;
        const Estimate pooled =
            with_spread(own, shared_noise(settings).of_pairs->spread, 1 / static_cast<double>(seeds), 0);
        for (const std::size_t is_pooled : {std::size_t{0}, std::size_t{1}}) {
          Estimate estimate = is_pooled == 1 ? pooled : own;
          const auto differs = [&] { return test_limits(estimate, Limits::within(0)).decision == Decision::kOutside; };
          wrong.at(is_pooled) += differs() ? 1 : 0;
          estimate.value += difference;
          found.at(is_pooled) += differs() ? 1 : 0;
        }
      }
      const auto share = [&](int count) { return static_cast<double>(count) / samples; };
      const auto name = ::testing::Message() << seeds << " pairs, correlation " << correlation;
      if (simulate_in_full())
        std::cout << name.GetString() << ": wrong " << share(wrong[1]) << ", found " << share(found[1]) << ", by own "
                  << share(found[0]) << "\n";
      const double errors = 3 * std::sqrt(0.05 * 0.95 / samples);
      EXPECT_NEAR(share(wrong[1]), 0.05, errors) << name;
      EXPECT_GE(share(found[1]), 0.6) << name << ": by its own spread " << share(found[0]);
    }
  }
}

}  // namespace
}  // namespace xlm
