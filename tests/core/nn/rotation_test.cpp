// Rotary positions.
#include <cmath>

#include <gtest/gtest.h>

#include "core/nn/transformer_block.h"

namespace xlm {
namespace {

torch::Tensor angles_of(std::int64_t length, std::int64_t width) {
  const torch::TensorOptions real(torch::kDouble);
  return torch::outer(torch::arange(length, real), torch::pow(100.0, -torch::arange(0, width, 2, real) / width));
}

TEST(Rotation, TurnsThePairsThatItSays) {
  const torch::Tensor angles = torch::tensor({0.5, 2.0}, torch::kDouble).unsqueeze(0);  // one position, two pairs
  const torch::Tensor x = torch::tensor({1.0, 2.0, 3.0, 4.0}, torch::kDouble).view({1, 1, 1, 4});
  for (const RotatedPairs pairs : {RotatedPairs::kNeighbours, RotatedPairs::kHalves}) {
    const bool neighbours = pairs == RotatedPairs::kNeighbours;
    const torch::Tensor turned = PairRotation(angles, pairs, torch::kDouble).turn(x).flatten();
    for (const int pair : {0, 1}) {
      const int first = neighbours ? 2 * pair : pair;
      const int second = neighbours ? first + 1 : pair + 2;
      const double angle = pair == 0 ? 0.5 : 2.0;
      const double a = first + 1;
      const double b = second + 1;
      EXPECT_NEAR(turned[first].item<double>(), a * std::cos(angle) - b * std::sin(angle), 1e-12);
      EXPECT_NEAR(turned[second].item<double>(), b * std::cos(angle) + a * std::sin(angle), 1e-12);
    }
  }
}

TEST(Rotation, KeepsTypesAndRoundsOnce) {
  torch::manual_seed(3);
  const torch::Tensor angles = angles_of(40, 16);
  const torch::Tensor x = torch::randn({2, 40, 3, 16}).to(torch::kBFloat16);
  for (const RotatedPairs pairs : {RotatedPairs::kNeighbours, RotatedPairs::kHalves}) {
    const torch::Tensor turned = PairRotation(angles, pairs, torch::kFloat).turn(x);
    EXPECT_EQ(turned.scalar_type(), torch::kBFloat16);
    const torch::Tensor exact = PairRotation(angles, pairs, torch::kDouble).turn(x.to(torch::kDouble));
    EXPECT_TRUE(torch::allclose(turned.to(torch::kDouble), exact, /*rtol=*/1.0 / 256, /*atol=*/1e-6));
  }
}

TEST(Rotation, KeepsLengthsAndTurnsBack) {
  torch::manual_seed(5);
  const torch::Tensor angles = angles_of(40, 16);
  for (const RotatedPairs pairs : {RotatedPairs::kNeighbours, RotatedPairs::kHalves}) {
    const torch::Tensor x = torch::randn({1, 40, 2, 16});
    const torch::Tensor turned = PairRotation(angles, pairs, torch::kFloat).turn(x);
    EXPECT_TRUE(torch::allclose(turned.norm(2, -1), x.norm(2, -1), 1e-5));
    EXPECT_FALSE(torch::allclose(turned, x, 1e-2, 1e-2));
    EXPECT_TRUE(torch::allclose(PairRotation(-angles, pairs, torch::kFloat).turn(turned), x, 1e-5, 1e-5));
  }
}

}  // namespace
}  // namespace xlm
