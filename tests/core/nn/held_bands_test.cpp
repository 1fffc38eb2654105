// Bands that follow the reach of heads in steps.
#include <gtest/gtest.h>

#include "core/nn/held_bands.h"

namespace xlm {
namespace {

TEST(HeldBands, ABandIsTheReachInWholeStepsUpToTheLimit) {
  EXPECT_EQ(band_of(1, 1000), 32);
  EXPECT_EQ(band_of(32, 1000), 32);
  EXPECT_EQ(band_of(33, 1000), 64);
  EXPECT_EQ(band_of(33, 50), 50);
}

TEST(HeldBands, GrowAtOnceAndShrinkOnlyIfMuchIsNotNeeded) {
  HeldBands bands;
  EXPECT_TRUE(bands.empty());
  bands.fit({{40, 100}}, 200);
  EXPECT_EQ(bands.of_layer(0), (std::vector<std::int64_t>{64, 128}));
  bands.fit({{65, 81}}, 200);  // 128 − 81 < 32 + 16
  EXPECT_EQ(bands.of_layer(0), (std::vector<std::int64_t>{96, 128}));
  bands.fit({{65, 80}}, 200);
  EXPECT_EQ(bands.of_layer(0), (std::vector<std::int64_t>{96, 96}));
  bands.fit({{199, 80}}, 200);
  EXPECT_EQ(bands.of_layer(0), (std::vector<std::int64_t>{200, 96}));
}

TEST(HeldBands, SizesOfACheckpointAreTakenBackIfTheyFit) {
  HeldBands bands;
  bands.fit({{40, 100}, {10, 20}}, 200);
  EXPECT_EQ(bands.sizes(), (std::vector<std::int64_t>{64, 128, 32, 32}));
  bands.set_sizes({96, 128, 64, 32});
  EXPECT_EQ(bands.of_layer(0), (std::vector<std::int64_t>{96, 128}));
  EXPECT_EQ(bands.of_layer(1), (std::vector<std::int64_t>{64, 32}));
  bands.set_sizes({1, 2, 3});
  EXPECT_EQ(bands.sizes(), (std::vector<std::int64_t>{96, 128, 64, 32}));
}

}  // namespace
}  // namespace xlm
