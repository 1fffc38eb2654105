// Power laws: descents, exact recovery of planted parameters, and what the fitter reports of its limits.
#include "results/fits/power_law.h"

#include <gtest/gtest.h>

#include "results/fits/minimum.h"
#include "tests/results/fits/power_laws.h"

namespace xlm {
namespace {

constexpr double kDelta = 1e-3;

TEST(Minimum, OfRosenbrocksValleyIsFound) {
  const auto valley = [](const std::vector<double>& at, double* gradient) {
    const double across = at[1] - at[0] * at[0];
    if (gradient != nullptr) {
      gradient[0] = -2 * (1 - at[0]) - 400 * at[0] * across;
      gradient[1] = 200 * across;
    }
    return (1 - at[0]) * (1 - at[0]) + 100 * across * across;
  };
  const Minimum free = minimise(valley, {-1.2, 1}, {-5, -5}, {5, 5});
  EXPECT_NEAR(free.at[0], 1, 1e-5);
  EXPECT_NEAR(free.at[1], 1, 1e-5);
  EXPECT_NEAR(free.value, 0, 1e-9);
}

TEST(Minimum, StaysWithinItsBounds) {
  const auto slope = [](const std::vector<double>& at, double* gradient) {
    if (gradient != nullptr) gradient[0] = 2 * (at[0] - 3);
    return (at[0] - 3) * (at[0] - 3);
  };
  EXPECT_NEAR(minimise(slope, {0}, {-1}, {2}).at[0], 2, 1e-9);
  EXPECT_NEAR(minimise(slope, {7}, {-1}, {2}).at[0], 2, 1e-9) << "a start beyond the bounds is moved to them";
}

TEST(PowerLaw, IsWhatItsFormulaSays) {
  const PowerLaw law{.floor = 2, .terms = {{8, 0.5}, {27, 1.0 / 3}}};
  EXPECT_DOUBLE_EQ(law.at({16, 27}), 2 + 2 + 9);
  EXPECT_EQ(law.parameters(), (std::vector<double>{2, 8, 0.5, 27, 1.0 / 3}));
}

void expect_law(const PowerLaw& found, const PowerLaw& planted, double tolerance) {
  const std::vector<double> ours = found.parameters();
  const std::vector<double> truth = planted.parameters();
  ASSERT_EQ(ours.size(), truth.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i] / truth[i], 1, tolerance) << "parameter " << i;
}

TEST(PowerLaw, OfComputeIsRecovered) {
  std::mt19937_64 random(1);
  const LossPoints points = made_losses(compute_law(), six_budgets(), 1, 0, random);
  const FoundLaw found = PowerLawFitter(points.x, kDelta).fit(points.loss);
  expect_law(found.law, compute_law(), 1e-4);
  EXPECT_LT(found.misfit, 1e-8);
  EXPECT_FALSE(found.floor_is_zero);
  EXPECT_FALSE(found.at_limit);
}

TEST(PowerLaw, OfSizeAndDataIsRecovered) {
  std::mt19937_64 random(1);
  const LossPoints points = made_losses(size_and_data_law(), sizes_and_budgets(), 1, 0, random);
  expect_law(PowerLawFitter(points.x, kDelta).fit(points.loss).law, size_and_data_law(), 1e-4);
}

/// The printed law of Hoffmann et al. 2022 (approach 3), on sizes and lengths as theirs.
TEST(PowerLaw, OfTheSizesOfLargeModelsIsRecovered) {
  const PowerLaw printed{.floor = 1.69, .terms = {{406.4, 0.34}, {410.7, 0.28}}};
  std::vector<std::vector<double>> places;
  for (const double size : {7e7, 4e8, 2e9, 1e10}) {
    for (const double tokens : {5e9, 3e10, 2e11}) places.push_back({size, tokens});
  }
  std::mt19937_64 random(1);
  const LossPoints points = made_losses(printed, places, 1, 0, random);
  expect_law(PowerLawFitter(points.x, kDelta).fit(points.loss).law, printed, 1e-4);
}

TEST(PowerLaw, IsHardlyMovedByOneOutlier) {
  std::mt19937_64 random(1);
  LossPoints points = made_losses(compute_law(), six_budgets(), 3, 0, random);
  points.loss[7] *= 1.1;  // a run that went wrong
  expect_law(PowerLawFitter(points.x, kDelta).fit(points.loss).law, compute_law(), 0.02);
}

TEST(PowerLaw, WithoutAFloorSaysSo) {
  std::mt19937_64 random(1);
  const PowerLaw pure{.floor = 0, .terms = {{300, 0.2}}};
  const LossPoints points = made_losses(pure, six_budgets(), 1, 0, random);
  const FoundLaw found = PowerLawFitter(points.x, kDelta).fit(points.loss);
  EXPECT_NEAR(found.law.terms.front().exponent, 0.2, 1e-3);
  EXPECT_TRUE(found.floor_is_zero);
}

TEST(PowerLaw, DescentFromTheBestStaysThere) {
  std::mt19937_64 random(2);
  const LossPoints points = made_losses(compute_law(), six_budgets(), 3, 0.002, random);
  const PowerLawFitter fitter(points.x, kDelta);
  const FoundLaw best = fitter.fit(points.loss);
  const FoundLaw again = fitter.fit_from(points.loss, best.law);
  EXPECT_LE(again.misfit, best.misfit * (1 + 1e-9));
  EXPECT_NEAR(again.misfit, best.misfit, 1e-6 * best.misfit);
}

}  // namespace
}  // namespace xlm
