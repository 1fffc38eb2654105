// Norms of residual sums: the kernel against libtorch's operations in double.
#include "core/kernels/residual_norm.h"

#include <vector>

#include <gtest/gtest.h>

#include "core/kernels/packed_operands.h"
#include "core/runtime/device.h"
#include "tests/core/kernels/exactness.h"
#include "tests/needs.h"

namespace xlm {
namespace {

using NormVersion = ResidualNorm (*)(const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                                     const NormOptions&);

struct NormOperands {
  torch::Tensor stream, added, scale, d_sum, d_normed;

  NormOperands to(torch::ScalarType type) const {
    const auto of = [type](const torch::Tensor& x) { return x.defined() ? x.to(type) : x; };
    return {of(stream), of(added), of(scale), of(d_sum), of(d_normed)};
  }
};

/// Sum, norm, and the gradients of stream, scale and what is added.
std::vector<torch::Tensor> computed(NormVersion version, const NormOperands& given, const NormOptions& options) {
  const auto leaf = [](const torch::Tensor& x) { return x.defined() ? x.clone().set_requires_grad(true) : x; };
  const torch::Tensor stream = leaf(given.stream);
  const torch::Tensor added = leaf(given.added);
  const torch::Tensor scale = leaf(given.scale);
  const auto [sum, normed] = version(stream, added, scale, options);
  ((sum * given.d_sum).sum() + (normed * given.d_normed).sum()).backward();
  std::vector<torch::Tensor> results{sum.detach(), normed.detach(), stream.grad(), scale.grad()};
  if (added.defined()) results.push_back(added.grad());
  return results;
}

NormOperands random_operands(std::int64_t rows, std::int64_t width, bool with_added) {
  return {.stream = torch::randn({2, rows, width}) + 0.5,
          .added = with_added ? torch::randn({2, rows, width}) : torch::Tensor(),
          .scale = torch::randn({width}),
          .d_sum = torch::randn({2, rows, width}),
          .d_normed = torch::randn({2, rows, width})};
}

TEST(ResidualNorm, IsAsExactAsLibtorchsOperations) {
  torch::manual_seed(5);
  for (const bool centred : {false, true}) {
    for (const bool with_added : {false, true}) {
      Exactness exactness;
      for (const std::int64_t width : {2, 15, 16, 17, 64, 100, 384}) {
        for (const std::int64_t rows : {1, 3, 400}) {  // in one thread and in several
          const NormOperands operands = random_operands(rows, width, with_added);
          const NormOptions options{.centred = centred, .epsilon = 1e-3};
          exactness.add(torch::kFloat, computed(residual_norm_fused, operands, options),
                        computed(residual_norm_composed, operands, options),
                        computed(residual_norm_composed, operands.to(torch::kDouble), options));
        }
      }
      exactness.expect_as_plain(1e-6);
    }
  }
}

/// What linear layers multiply is rounded once; the stream stays as exact as it was.
TEST(ResidualNorm, UnderAutocastTheNormHasTheTypeOfProducts) {
  if (!has_bfloat16_products()) GTEST_SKIP() << needs::kProcessor;
  torch::manual_seed(6);
  Exactness exactness;
  for (const std::int64_t width : {15, 64, 100}) {
    for (const bool centred : {false, true}) {
      NormOperands operands = random_operands(300, width, true);
      operands.added = operands.added.to(torch::kBFloat16);
      const NormOptions options{.centred = centred};
      const PrecisionScope scope(Precision::kBfloat16, torch::kCPU);
      const auto own = computed(residual_norm_fused, operands, options);
      const auto plain = computed(
          [](const torch::Tensor& stream, const torch::Tensor& added, const torch::Tensor& scale,
             const NormOptions& norm) {
            const auto [sum, normed] = residual_norm_composed(stream, added, scale, norm);
            return ResidualNorm{sum, normed.to(torch::kBFloat16)};
          },
          operands, options);
      EXPECT_EQ(own[0].scalar_type(), torch::kFloat);
      EXPECT_TRUE(torch::equal(own[0], plain[0]));
      EXPECT_EQ(own[1].scalar_type(), torch::kBFloat16);
      EXPECT_EQ(own[4].scalar_type(), torch::kBFloat16);
      exactness.add(torch::kBFloat16, own, plain,
                    computed(residual_norm_composed, operands.to(torch::kDouble), options));
    }
  }
  exactness.expect_as_plain(1e-6);
}

TEST(ResidualNorm, OfPartsOfTensorsAndWithoutGradients) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(7);
  const torch::Tensor stream = torch::randn({2, 9, 40}).narrow(1, 4, 5);
  const torch::Tensor added = torch::randn({5, 2, 40}).transpose(0, 1);
  const torch::Tensor scale = torch::randn({40});
  for (const bool centred : {false, true}) {
    const auto [sum, normed] = residual_norm(stream, added, scale, {.centred = centred});
    EXPECT_TRUE(torch::equal(sum, stream + added));
    EXPECT_TRUE(torch::allclose(normed, norm_of(stream + added, scale, {.centred = centred}), 1e-5, 1e-6));
    const auto [alone, norm_alone] = residual_norm(stream, {}, scale, {.centred = centred});
    EXPECT_TRUE(torch::equal(alone, stream));
    EXPECT_TRUE(torch::allclose(norm_alone, norm_of(stream, scale, {.centred = centred}), 1e-5, 1e-6));
  }
}

TEST(ResidualNorm, DoublesAndNothingAreLibtorchs) {
  torch::manual_seed(8);
  const torch::Tensor stream = torch::randn({3, 10}, torch::kDouble);
  const torch::Tensor scale = torch::randn({10}, torch::kDouble);
  EXPECT_TRUE(torch::equal(residual_norm(stream, stream, scale, {}).normed, norm_of(stream + stream, scale, {})));
  const auto [sum, normed] = residual_norm(torch::empty({2, 0, 10}), torch::empty({2, 0, 10}), torch::ones({10}), {});
  EXPECT_EQ(sum.sizes(), normed.sizes());
  EXPECT_EQ(normed.numel(), 0);
}

}  // namespace
}  // namespace xlm
