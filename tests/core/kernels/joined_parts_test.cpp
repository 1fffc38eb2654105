// Parts of one tensor: their gradients are joined without a copy where they lie side by side.
#include "core/kernels/joined_parts.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

using torch::Tensor;

/// The gradient of x for given gradients of its parts.
Tensor joined_gradient(const Tensor& x, std::int64_t dimension, const std::vector<Tensor>& gradients) {
  const std::vector<Tensor> parts = unbind_joined(x, dimension);
  return torch::autograd::grad(parts, {x}, gradients)[0];
}

TEST(UnbindJoined, GradientsSideBySideAreTheGradientWithoutACopy) {
  torch::manual_seed(1);
  const Tensor x = torch::randn({2, 5, 3, 4}).set_requires_grad(true);
  const std::vector<Tensor> parts = unbind_joined(x, 2);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(parts[static_cast<std::size_t>(i)].equal(x.select(2, i)));

  const Tensor whole = torch::randn(x.sizes());
  const Tensor gradient = joined_gradient(x, 2, whole.unbind(2));
  EXPECT_TRUE(gradient.equal(whole));
  EXPECT_EQ(gradient.data_ptr(), whole.data_ptr());

  // Through views, as a transposed part has.
  const std::vector<Tensor> again = unbind_joined(x, 2);
  std::vector<Tensor> turned;
  std::vector<Tensor> upstream;
  for (const Tensor& part : again) turned.push_back(part.transpose(0, 1));
  for (const Tensor& part : whole.unbind(2)) upstream.push_back(part.transpose(0, 1));
  EXPECT_EQ(torch::autograd::grad(turned, {x}, upstream)[0].data_ptr(), whole.data_ptr());
}

TEST(UnbindJoined, OtherGradientsAreStacked) {
  torch::manual_seed(2);
  const Tensor x = torch::randn({2, 3, 4}).set_requires_grad(true);
  const Tensor whole = torch::randn(x.sizes());
  const std::vector<Tensor> parts = whole.unbind(1);
  // In another order, of separate memory, one of them twice, and further apart than they would lie.
  EXPECT_TRUE(
      joined_gradient(x, 1, {parts[1], parts[0], parts[2]}).equal(torch::stack({parts[1], parts[0], parts[2]}, 1)));
  EXPECT_TRUE(joined_gradient(x, 1, {parts[0].clone(), parts[1], parts[2]}).equal(whole));
  EXPECT_TRUE(
      joined_gradient(x, 1, {parts[0], parts[0], parts[0]}).equal(torch::stack({parts[0], parts[0], parts[0]}, 1)));
  const Tensor wide = torch::randn({2, 6, 4});
  const Tensor spread = wide.slice(1, 0, 6, 2);
  EXPECT_TRUE(joined_gradient(x, 1, spread.unbind(1)).equal(spread));
  // A part without a gradient.
  const Tensor first = unbind_joined(x, 1)[0];
  const Tensor gradient = torch::autograd::grad({first.sum()}, {x})[0];
  EXPECT_TRUE(gradient.select(1, 0).equal(torch::ones({2, 4})));
  EXPECT_EQ(gradient.select(1, 1).abs().sum().item<float>(), 0);
}

TEST(ChosenSlices, AreInTheOrderOfTheirIndices) {
  torch::manual_seed(3);
  const Tensor x = torch::randn({3, 6, 2});
  for (const std::vector<std::int64_t>& indices :
       std::vector<std::vector<std::int64_t>>{{2}, {1, 2, 3}, {3, 4, 0, 1, 5}, {5, 4, 3, 2, 1, 0}}) {
    EXPECT_TRUE(chosen_slices(x, indices, 1).equal(x.index_select(1, torch::tensor(indices)))) << indices;
  }
  EXPECT_TRUE(chosen_slices(x, {0, 1, 2, 3, 4, 5}, 1).is_same(x));
}

}  // namespace
}  // namespace xlm
