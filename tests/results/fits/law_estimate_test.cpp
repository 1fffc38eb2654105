// Intervals of fitted laws: whether they hold the truth as often as they say, and predictions of what was left out.
#include "results/fits/law_estimate.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/results/fits/power_laws.h"

namespace xlm {
namespace {

constexpr int kSimulations = 200;
constexpr int kLeastHits = 180;   // 90 %
constexpr int kMaxHits = 198;     // 99 %
constexpr double kNoise = 0.002;  // of log loss: as seeds of small models

bool holds(const LawInterval& interval, double truth) { return interval.low <= truth && truth <= interval.high; }

/// How often intervals hold the truth: of each parameter, then of the law and of a further run at `far`.
std::vector<int> hits_of(const PowerLaw& law, const std::vector<std::vector<double>>& places, int seeds,
                         const std::vector<double>& far) {
  std::mt19937_64 random(20);
  std::normal_distribution<double> error(0, kNoise);
  const std::vector<double> truth = law.parameters();
  std::vector<int> hits(truth.size() + 2);
  for (int simulation = 0; simulation < kSimulations; ++simulation) {
    const LossPoints points = made_losses(law, places, seeds, kNoise, random);
    const LawEstimate estimate(points, {.draws = 120, .seed = static_cast<std::uint64_t>(simulation)});
    const std::vector<LawInterval> intervals = estimate.intervals();
    for (std::size_t i = 0; i < truth.size(); ++i) hits[i] += holds(intervals[i], truth[i]) ? 1 : 0;
    const Prediction predicted = estimate.predict(far);
    hits[truth.size()] += holds(predicted.law, law.at(far)) ? 1 : 0;
    hits[truth.size() + 1] += holds(predicted.run, law.at(far) * std::exp(error(random))) ? 1 : 0;
  }
  return hits;
}

TEST(LawEstimate, IntervalsOfALawOfComputeHoldTheTruth) {
  const std::vector<int> hits = hits_of(compute_law(), six_budgets(), 2, {1e16});
  for (std::size_t i = 0; i < hits.size(); ++i) {
    EXPECT_GE(hits[i], kLeastHits) << "number " << i;
    EXPECT_LE(hits[i], kMaxHits) << "number " << i;
  }
}

TEST(LawEstimate, IntervalsOfALawOfSizeAndDataHoldTheTruth) {
  const std::vector<int> hits = hits_of(size_and_data_law(), sizes_and_budgets(), 1, {1e7, 2e7});
  for (std::size_t i = 0; i < hits.size(); ++i) {
    EXPECT_GE(hits[i], kLeastHits) << "number " << i;
    EXPECT_LE(hits[i], kMaxHits) << "number " << i;
  }
}

/// Noise that is ten times as large at the largest budget as at the smallest, and twice that where it is predicted.
TEST(LawEstimate, IntervalsAllowForNoiseThatGrows) {
  std::mt19937_64 random(21);
  std::normal_distribution<double> error(0, 1);
  const PowerLaw law = compute_law();
  const auto noise_at = [](double compute) { return 0.0005 * std::cbrt(compute / 1e12); };
  int hits = 0;
  for (int simulation = 0; simulation < kSimulations; ++simulation) {
    LossPoints points = made_losses(law, six_budgets(), 3, 0, random);
    for (std::size_t i = 0; i < points.size(); ++i) {
      points.loss[i] *= std::exp(noise_at(points.x[i].front()) * error(random));
    }
    const LawEstimate estimate(points, {.draws = 120, .seed = static_cast<std::uint64_t>(simulation)});
    const double made = law.at({1e16}) * std::exp(noise_at(1e16) * error(random));
    hits += holds(estimate.predict({1e16}).run, made) ? 1 : 0;
  }
  EXPECT_GE(hits, kLeastHits) << hits;
}

TEST(LawEstimate, FollowsFromItsSeed) {
  std::mt19937_64 random(3);
  const LossPoints points = made_losses(compute_law(), six_budgets(), 2, kNoise, random);
  const auto width = [&](std::uint64_t seed) {
    const LawInterval interval = LawEstimate(points, {.draws = 50, .seed = seed}).intervals().front();
    return interval.high - interval.low;
  };
  EXPECT_EQ(width(1), width(1));
  EXPECT_NE(width(1), width(2));
}

TEST(LawEstimate, HasNoWidthWithoutNoise) {
  std::mt19937_64 random(1);
  const LossPoints points = made_losses(compute_law(), six_budgets(), 2, 0, random);
  const LawEstimate estimate(points, {.draws = 20});
  EXPECT_LT(estimate.spread(), 1e-6);
  const LawInterval floor = estimate.intervals().front();
  EXPECT_NEAR(floor.low, 1.2, 1e-3);
  EXPECT_NEAR(floor.high, 1.2, 1e-3);
}

TEST(LawEstimate, HasTheSpreadOfItsRuns) {
  std::mt19937_64 random(5);
  const LossPoints points = made_losses(size_and_data_law(), sizes_and_budgets(), 1, kNoise, random);
  const LawEstimate estimate(points, {.draws = 200});
  EXPECT_GT(estimate.spread(), kNoise / 3);
  EXPECT_LT(estimate.spread(), kNoise * 3);
}

TEST(LawEstimate, PredictsTheLargestFromTheOthers) {
  std::mt19937_64 random(1);
  const LossPoints points = made_losses(compute_law(), six_budgets(), 2, 0, random);
  const std::optional<LeftOut> left = leave_largest_out(points, {.draws = 20});
  ASSERT_TRUE(left.has_value());
  EXPECT_DOUBLE_EQ(left->x.front(), six_budgets().back().front());
  EXPECT_NEAR(left->loss, compute_law().at(left->x), 1e-9);
  EXPECT_NEAR(left->predicted.loss / left->loss, 1, 1e-4);
}

TEST(LawEstimate, LeavesNothingOutOfTooFewSettings) {
  std::mt19937_64 random(1);
  std::vector<std::vector<double>> four = six_budgets();
  four.resize(4);
  EXPECT_FALSE(leave_largest_out(made_losses(compute_law(), four, 2, kNoise, random), {.draws = 20}).has_value());
}

TEST(LawEstimate, LeavesNothingOutIfAColumnHasTooFewSizesThen) {
  std::mt19937_64 random(1);
  const PowerLaw law = size_and_data_law();
  const std::vector<std::vector<double>> grid{{1e6, 1e8}, {3e6, 1e8}, {1e7, 1e8}, {1e6, 3e8}, {3e6, 3e8}, {1e7, 3e8}};
  std::vector<std::vector<double>> more = grid;
  more.push_back({3e7, 1e9});  // without it, D has two sizes
  EXPECT_FALSE(leave_largest_out(made_losses(law, more, 2, kNoise, random), {.draws = 20}).has_value());
  more.push_back({1e6, 9e8});
  EXPECT_TRUE(leave_largest_out(made_losses(law, more, 2, kNoise, random), {.draws = 20}).has_value());
}

}  // namespace
}  // namespace xlm
