// GELU with tanh: the kernel against libtorch's in double.
#include "core/kernels/tanh_gelu.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/core/kernels/exactness.h"

namespace xlm {
namespace {

using Version = torch::Tensor (*)(const torch::Tensor&);

torch::Tensor by_libtorch(const torch::Tensor& x) { return torch::gelu(x, "tanh"); }

/// Value and gradient.
std::vector<torch::Tensor> computed(Version version, const torch::Tensor& given, const torch::Tensor& upstream) {
  const torch::Tensor x = given.clone().set_requires_grad(true);
  const torch::Tensor out = version(x);
  out.backward(upstream.to(x.scalar_type()));
  return {out.detach(), x.grad()};
}

TEST(TanhGelu, IsAsExactAsLibtorchsInEveryPrecision) {
  Exactness exactness;
  torch::manual_seed(5);
  for (const std::int64_t count : {1, 15, 16, 17, 1023, 1024, 1025, 40000}) {  // parts of vectors and of chunks
    for (const torch::ScalarType type : {torch::kFloat, torch::kBFloat16}) {
      const torch::Tensor x = (3 * torch::randn({count})).to(type);
      const torch::Tensor upstream = torch::randn({count}).to(type);
      exactness.add(type, computed(tanh_gelu_fused, x, upstream), computed(by_libtorch, x, upstream),
                    computed(by_libtorch, x.to(torch::kDouble), upstream));
    }
  }
  exactness.expect_as_plain(1e-7);
}

TEST(TanhGelu, FarFromZeroItIsZeroOrTheNumberItself) {
  const torch::Tensor x = torch::tensor({-1e30F, -60.0F, -12.0F, -0.0F, 0.0F, 12.0F, 60.0F, 1e12F, NAN});
  const auto own = computed(tanh_gelu_fused, x, torch::ones_like(x));
  EXPECT_TRUE(torch::allclose(own[0], torch::tensor({0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 12.0F, 60.0F, 1e12F, NAN}), 1e-6,
                              1e-30, /*equal_nan=*/true))
      << own[0];
  EXPECT_TRUE(torch::allclose(own[1], torch::tensor({0.0F, 0.0F, 0.0F, 0.5F, 0.5F, 1.0F, 1.0F, 1.0F, NAN}), 1e-6, 1e-30,
                              /*equal_nan=*/true))
      << own[1];
}

TEST(TanhGelu, KeepsShapesOfPartsOfTensors) {
  torch::manual_seed(6);
  const torch::Tensor x = torch::randn({4, 6, 10}).transpose(0, 1).narrow(2, 1, 7);
  EXPECT_TRUE(torch::allclose(tanh_gelu(x), by_libtorch(x), 1e-5, 1e-6));
  EXPECT_EQ(tanh_gelu(x).sizes(), x.sizes());
}

TEST(TanhGelu, DoublesAreLibtorchs) {
  torch::manual_seed(7);
  const torch::Tensor x = torch::randn({100}, torch::kDouble);
  EXPECT_TRUE(torch::equal(tanh_gelu(x), by_libtorch(x)));
}

}  // namespace
}  // namespace xlm
