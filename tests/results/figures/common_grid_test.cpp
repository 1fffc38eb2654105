// Means of runs whose numbers stand at other places.
#include "results/figures/common_grid.h"

#include <map>

#include <gtest/gtest.h>

namespace xlm {
namespace {

using Curve = std::map<double, double>;

std::map<std::size_t, Curve> placed(const std::map<std::size_t, Curve>& runs) {
  std::vector<FigureSample> samples;
  for (const auto& [run, curve] : runs) {
    for (const auto& [x, y] : curve) samples.push_back({run, x, y, 0});
  }
  std::map<std::size_t, Curve> result;
  for (const FigureSample& sample : on_common_grid(samples)) result[sample.run][*as_number(sample.x)] = sample.y;
  return result;
}

TEST(CommonGrid, ARunGoesEvenlyFromRecordToRecord) {
  const auto found = placed({{0, {{10, 1.0}, {20, 2.0}, {30, 3.0}}}, {1, {{10, 5.0}, {30, 7.0}}}});
  EXPECT_EQ(found.at(1), (Curve{{10, 5.0}, {20, 6.0}, {30, 7.0}}));
  EXPECT_EQ(found.at(0), (Curve{{10, 1.0}, {20, 2.0}, {30, 3.0}}));
}

TEST(CommonGrid, WhatARunHasBeyondTheOneWithTheMostRecordsStays) {
  const auto found =
      placed({{0, {{10, 1.0}, {20, 2.0}, {30, 3.0}, {40, 4.0}}}, {1, {{2, 0.0}, {20, 2.0}, {100, 10.0}}}});
  EXPECT_EQ(found.at(1).begin()->first, 2);
  EXPECT_EQ(found.at(1).rbegin()->first, 100);
  EXPECT_EQ(found.at(1).rbegin()->second, 10.0);
  EXPECT_EQ(found.at(0).rbegin()->first, 40) << "it has nothing there";
}

TEST(CommonGrid, NothingIsDrawnThatNoRunReported) {
  const auto found =
      placed({{0, {{100, 11}, {200, 6}, {300, 4}, {400, 3}}}, {1, {{150, 7.5}, {250, 5}, {350, 4}, {450, 3}}}});
  EXPECT_EQ(found.at(0), (Curve{{150, 8.5}, {200, 6}, {300, 4}, {400, 3}})) << "where both have begun";
  EXPECT_EQ(found.at(1), (Curve{{150, 7.5}, {200, 6.25}, {300, 4.5}, {400, 3.5}})) << "where both go on";
}

TEST(CommonGrid, AShortRunHasItsOwnPlacesAndMovesNoEnd) {
  const auto found = placed({{0, {{100, 1}, {200, 2}, {300, 3}}}, {1, {{130, 5}, {170, 6}}}, {2, {{230, 7}}}});
  EXPECT_EQ(found.at(0).begin()->first, 100);
  EXPECT_EQ(found.at(1), (Curve{{130, 5}, {170, 6}}));
  EXPECT_EQ(found.at(2), (Curve{{230, 7}}));
  EXPECT_DOUBLE_EQ(found.at(0).at(130), 1.3);
}

TEST(CommonGrid, RunsOfOneNumberAtOtherPlacesAreSeen) {
  EXPECT_TRUE(have_one_each({{0, 300, 1.0, 0}, {1, 500, 1.2, 0}}));
  EXPECT_FALSE(have_one_each({{0, 300, 1.0, 0}, {1, 300, 1.2, 0}})) << "one place";
  EXPECT_FALSE(have_one_each({{0, 300, 1.0, 0}, {1, 500, 1.2, 0}, {1, 600, 1.1, 0}}));
}

TEST(CommonGrid, EndsThatAreAlikeAreOnePlace) {
  const auto found = placed({{0, {{10, 1.0}, {20, 2.0}, {30, 3.0}}}, {1, {{10, 5.0}, {20, 6.0}, {32, 7.0}}}});
  EXPECT_EQ(found.at(1).rbegin()->first, 30) << "runs of a budget end at slightly different places";
}

}  // namespace
}  // namespace xlm
