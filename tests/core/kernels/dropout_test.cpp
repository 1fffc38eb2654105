// Dropout by place: what it drops, and that its gradient drops the same.
#include "core/kernels/dropout.h"

#include <vector>

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(PlaceDropout, DropsItsShareAndScalesTheRest) {
  const torch::Tensor dropped = place_dropout(torch::ones({500, 1000}), 0.2, 5);
  EXPECT_NEAR((dropped == 0).to(torch::kDouble).mean().item<double>(), 0.2, 0.003);  // 5.3 deviations
  EXPECT_TRUE(torch::allclose(dropped.masked_select(dropped != 0), torch::tensor(1.25F)));
}

TEST(PlaceDropout, ScalesValueAndGradientByTheFactorsOfThePlaces) {
  torch::manual_seed(2);
  const Dropout dropout(0.3);
  for (const auto type : {torch::kFloat, torch::kDouble, torch::kBFloat16}) {
    // Rows shorter than a vector, a single row, and enough rows for several threads.
    for (const auto& shape : std::vector<std::vector<std::int64_t>>{{3, 5, 7}, {64}, {400, 130}}) {
      const torch::Tensor x = torch::randn(shape).to(type).set_requires_grad(true);
      const std::int64_t width = shape.back();
      torch::Tensor factors = torch::empty({x.numel() / width, width});
      const std::int64_t lines = shape.size() == 3 ? shape[1] : 1;  // of a row of the batch
      const auto key = [&](std::int64_t line) { return Dropout::key_of(9, line / lines, line % lines, 0); };
      for (std::int64_t row = 0; row < factors.size(0); ++row) {
        for (std::int64_t j = 0; j < width; ++j) {
          factors.data_ptr<float>()[row * width + j] = dropout.factor(key(row), static_cast<std::uint32_t>(j));
        }
      }
      factors = factors.view(shape).to(type);
      const torch::Tensor dropped = place_dropout(x, 0.3, 9);
      EXPECT_TRUE(torch::equal(dropped, x * factors));
      const torch::Tensor upstream = torch::randn(shape).to(type);
      EXPECT_TRUE(torch::equal(torch::autograd::grad({(dropped * upstream).sum()}, {x})[0], upstream * factors));
    }
  }
}

TEST(PlaceDropout, ADifferentSeedDropsOthersAndProbabilityZeroNone) {
  const torch::Tensor x = torch::ones({40, 100});
  EXPECT_TRUE(torch::equal(place_dropout(x, 0.3, 1), place_dropout(x, 0.3, 1)));
  EXPECT_FALSE(torch::equal(place_dropout(x, 0.3, 1), place_dropout(x, 0.3, 2)));
  EXPECT_TRUE(torch::equal(place_dropout(x, 0, 1), x));
}

}  // namespace
}  // namespace xlm
