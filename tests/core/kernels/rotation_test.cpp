// Rotary positions: the kernel against libtorch's operations in double.
#include "core/kernels/rotation.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/core/kernels/exactness.h"

namespace xlm {
namespace {

using Turn = torch::Tensor (PairRotation::*)(const torch::Tensor&) const;

torch::Tensor angles_of(std::int64_t length, std::int64_t width) {
  const torch::TensorOptions real(torch::kDouble);
  return torch::outer(torch::arange(length, real), torch::pow(100.0, -torch::arange(0, width, 2, real) / width));
}

/// The result and the gradient.
std::vector<torch::Tensor> computed(const PairRotation& rotation, Turn turn, const torch::Tensor& given,
                                    const torch::Tensor& upstream) {
  const torch::Tensor x = given.detach().set_requires_grad(true);
  const torch::Tensor out = (rotation.*turn)(x);
  EXPECT_EQ(out.scalar_type(), given.scalar_type());
  return {out.detach(), torch::autograd::grad({out}, {x}, {upstream.to(given.scalar_type())}).front()};
}

TEST(Rotation, IsAsExactAsLibtorchsOperations) {
  torch::manual_seed(3);
  for (const RotatedPairs pairs : {RotatedPairs::kNeighbours, RotatedPairs::kHalves}) {
    Exactness exactness;
    for (const std::int64_t width : {2, 6, 16, 34, 64}) {
      for (const std::int64_t length : {1, 7, 300}) {  // in one thread and in several
        const PairRotation rotation(angles_of(length, width), pairs, torch::kFloat);
        const PairRotation exact(angles_of(length, width), pairs, torch::kDouble);
        for (const torch::ScalarType type : {torch::kFloat, torch::kBFloat16}) {
          const torch::Tensor x = torch::randn({2, length, 3, width}).to(type);
          const torch::Tensor upstream = torch::randn({2, length, 3, width}).to(type);
          exactness.add(type, computed(rotation, &PairRotation::turn_fused, x, upstream),
                        computed(rotation, &PairRotation::turn_composed, x, upstream),
                        computed(exact, &PairRotation::turn_composed, x.to(torch::kDouble), upstream));
        }
      }
    }
    exactness.expect_as_plain(1e-6);
  }
}

/// As the layers give it: a part of a product's columns, and a gradient with heads in front.
TEST(Rotation, TakesPartsOfTensors) {
  torch::manual_seed(4);
  const PairRotation rotation(angles_of(5, 8), RotatedPairs::kNeighbours, torch::kFloat);
  const torch::Tensor x = torch::randn({2, 5, 72}).narrow(2, 24, 24).view({2, 5, 3, 8});
  const torch::Tensor upstream = torch::randn({2, 3, 5, 8}).transpose(1, 2);
  const auto own = computed(rotation, &PairRotation::turn, x, upstream);
  const auto plain = computed(rotation, &PairRotation::turn_composed, x, upstream);
  for (std::size_t i = 0; i < own.size(); ++i) EXPECT_TRUE(torch::allclose(own[i], plain[i], 1e-5, 1e-6));
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
