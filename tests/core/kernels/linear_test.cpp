// Linear layers against libtorch's own.
#include "core/kernels/linear.h"

#include <functional>

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include "core/kernels/step_context.h"

namespace xlm {
namespace {

TEST(Linear, EqualsTorchsInValueAndGradient) {
  torch::manual_seed(1);
  for (const bool with_bias : {false, true}) {
    for (const std::vector<std::int64_t>& shape :
         std::vector<std::vector<std::int64_t>>{{2, 5, 16}, {33, 16}, {1, 1, 16}}) {
      const torch::Tensor x = torch::randn(shape).set_requires_grad(true);
      const torch::Tensor weight = torch::randn({24, 16}).set_requires_grad(true);
      const torch::Tensor bias = with_bias ? torch::randn({24}).set_requires_grad(true) : torch::Tensor();
      std::vector<torch::Tensor> leaves{x, weight};
      if (with_bias) leaves.push_back(bias);
      const torch::Tensor expected = torch::linear(x, weight, bias);
      const torch::Tensor actual = linear_layer(x, weight, bias);
      EXPECT_TRUE(torch::allclose(actual, expected, 1e-5, 1e-5));
      const torch::Tensor upstream = torch::randn_like(expected);
      const auto wanted = torch::autograd::grad({(expected * upstream).sum()}, leaves);
      const auto given = torch::autograd::grad({(actual * upstream).sum()}, leaves);
      for (std::size_t i = 0; i < leaves.size(); ++i)
        EXPECT_TRUE(torch::allclose(given[i], wanted[i], 1e-4, 1e-4)) << i;
    }
  }
}

TEST(Linear, WithTransposedWeightsEqualsTorchsInValueAndGradient) {
  torch::manual_seed(1);
  for (const std::int64_t rows : {3, 33}) {
    const std::vector<torch::Tensor> leaves{torch::randn({2, rows, 16}).set_requires_grad(true),
                                            torch::randn({16, 24}).set_requires_grad(true),
                                            torch::randn({24}).set_requires_grad(true)};
    const torch::Tensor expected = torch::matmul(leaves[0], leaves[1]) + leaves[2];
    const torch::Tensor actual = affine_layer(leaves[0], leaves[1], leaves[2]);
    EXPECT_TRUE(torch::allclose(actual, expected, 1e-5, 1e-5));
    const torch::Tensor upstream = torch::randn_like(expected);
    const auto wanted = torch::autograd::grad({(expected * upstream).sum()}, leaves);
    const auto given = torch::autograd::grad({(actual * upstream).sum()}, leaves);
    for (std::size_t i = 0; i < leaves.size(); ++i) EXPECT_TRUE(torch::allclose(given[i], wanted[i], 1e-4, 1e-4)) << i;
  }
}

TEST(Linear, OfPastAndBlockIsThatOfBothWithoutAGradientOfThePast) {
  torch::manual_seed(1);
  const torch::Tensor past = torch::randn({2, 7, 16}, torch::kDouble);
  const torch::Tensor block = torch::randn({2, 5, 16}, torch::kDouble).set_requires_grad(true);
  const torch::Tensor weight = torch::randn({24, 16}, torch::kDouble).set_requires_grad(true);
  const torch::Tensor expected = torch::matmul(torch::cat({past, block}, 1), weight.t());
  const torch::Tensor upstream = torch::randn_like(expected);
  const auto wanted = torch::autograd::grad({(expected * upstream).sum()}, {block, weight});
  const torch::Tensor seen = torch::cat({past, block.detach()}, 1);
  for (const torch::Tensor& actual :
       {linear_layer_with_past(seen, block, weight), composed_linear_with_past(seen, block, weight)}) {
    EXPECT_TRUE(torch::allclose(actual, expected, 1e-12, 1e-12));
    const auto given = torch::autograd::grad({(actual * upstream).sum()}, {block, weight});
    for (std::size_t i = 0; i < given.size(); ++i) EXPECT_TRUE(torch::allclose(given[i], wanted[i], 1e-12, 1e-12)) << i;
  }
  // Past and block may come in autocast's type already.
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  const torch::Tensor narrow = weight.detach().to(torch::kFloat).set_requires_grad(true);
  const torch::Tensor given = composed_linear_with_past(seen.to(torch::kBFloat16), block, narrow);
  EXPECT_EQ(given.scalar_type(), torch::kFloat);
  EXPECT_LT(((given - expected).norm() / expected.norm()).item<double>(), 1e-2);
}

/// As a GPU computes layers under autocast: products are rounded once, and gradients of weights not at all.
TEST(Linear, ComposedInBfloat16HasGradientsOfWeightsInTheirOwnType) {
  torch::manual_seed(4);
  const auto leaf = [](const torch::Tensor& x) {
    return x.to(torch::kBFloat16).to(torch::kFloat).set_requires_grad(true);
  };
  for (const bool with_bias : {false, true}) {
    for (const bool out_first : {false, true}) {
      if (!out_first && !with_bias) continue;  // GPT-2's layers all have one
      const torch::Tensor x = leaf(torch::randn({3, 20, 40}));
      const torch::Tensor weight = leaf(torch::randn({24, 40}));
      const torch::Tensor across = leaf(weight.detach().t().contiguous());
      const torch::Tensor bias = with_bias ? leaf(torch::randn({24})) : torch::Tensor();
      std::vector<torch::Tensor> leaves{x, out_first ? weight : across};
      if (with_bias) leaves.push_back(bias);
      const auto results = [&](const torch::Tensor& out) {
        torch::manual_seed(5);
        const torch::Tensor upstream = torch::randn(out.sizes()).to(torch::kBFloat16).to(out.scalar_type());
        std::vector<torch::Tensor> all{out.detach()};
        for (const torch::Tensor& each : torch::autograd::grad({out}, leaves, {upstream})) all.push_back(each);
        return all;
      };
      const auto found = results(out_first ? composed_linear_layer(x, weight, bias, torch::kBFloat16, true)
                                           : composed_linear_layer(x, across, bias, torch::kBFloat16, false));
      const auto wanted = results(torch::linear(x, out_first ? weight : across.t(), bias));
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(found[i].scalar_type(), i == 0 ? torch::kBFloat16 : torch::kFloat) << i;
        EXPECT_LT(((found[i] - wanted[i]).norm() / wanted[i].norm()).item<double>(), 4e-3) << i;
      }
      if (with_bias) {
        EXPECT_TRUE(torch::allclose(found[3], wanted[3], 1e-5, 1e-6));
      }
    }
  }
}

/// Checks the errors of both layers' products with `rows` rows, relative to the sums of the terms' sizes.
void expect_small_errors(std::int64_t rows, std::int64_t in, std::int64_t out) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor x = torch::randn({rows, in});
  const torch::Tensor weight = torch::randn({out, in});
  const torch::Tensor across = weight.t().contiguous();
  const torch::Tensor bias = torch::randn({out});
  const torch::Tensor exact = torch::linear(x.to(torch::kDouble), weight.to(torch::kDouble));
  const torch::Tensor moved = exact + bias;
  const torch::Tensor size = torch::linear(x.abs(), weight.abs(), bias.abs()).to(torch::kDouble);
  const auto largest = [&](const torch::Tensor& found, const torch::Tensor& wanted) {
    return ((found.to(torch::kDouble) - wanted).abs() / size).max().item<double>();
  };
  EXPECT_LT(largest(linear_layer(x, weight), exact), 1e-6) << rows << " " << in << " " << out;
  EXPECT_LT(largest(linear_layer(x, weight, bias), moved), 1e-6) << rows << " " << in << " " << out;
  EXPECT_LT(largest(affine_layer(x, across, bias), moved), 1e-6) << rows << " " << in << " " << out;
}

TEST(Linear, OfFewRowsIsAsExactAsFloat32) {
  torch::manual_seed(1);
  for (const std::int64_t rows : {1, 2, 7, 8}) {
    for (const std::int64_t in : {1, 3, 16, 67, 300}) {
      for (const std::int64_t out : {1, 5, 64, 131}) expect_small_errors(rows, in, out);
    }
  }
}

TEST(Linear, OfFewRowsIsTheSameForAnyNumberOfThreads) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({2, 517});
  const torch::Tensor weight = torch::randn({701, 517});
  const torch::Tensor across = weight.t().contiguous();
  const int threads = at::get_num_threads();
  std::vector<torch::Tensor> results;
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    results.push_back(torch::stack({linear_layer(x, weight), affine_layer(x, across, torch::zeros({701}))}));
  }
  at::set_num_threads(threads);
  EXPECT_TRUE(results[1].equal(results[0]));
  EXPECT_TRUE(results[2].equal(results[0]));
}

TEST(Linear, OfFewRowsIsTheSameWithAGradient) {  // a window is computed without one and recomputed with one
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({7, 130});
  const torch::Tensor weight = torch::randn({131, 130}).set_requires_grad(true);
  const torch::Tensor across = weight.detach().t().contiguous().set_requires_grad(true);
  const torch::Tensor bias = torch::randn({131});
  const torch::Tensor linear = linear_layer(x, weight, bias);
  const torch::Tensor affine = affine_layer(x, across, bias);
  EXPECT_TRUE(linear.requires_grad() && affine.requires_grad());
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(linear_layer(x, weight, bias).equal(linear));
  EXPECT_TRUE(affine_layer(x, across, bias).equal(affine));
}

TEST(Linear, OfFewRowsIsTheSameForARowByItself) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({7, 130});
  const torch::Tensor weight = torch::randn({131, 130});
  const torch::Tensor across = weight.t().contiguous();
  const torch::Tensor bias = torch::randn({131});
  EXPECT_TRUE(linear_layer(x[3], weight, bias).equal(linear_layer(x, weight, bias)[3]));
  EXPECT_TRUE(affine_layer(x[3], across, bias).equal(affine_layer(x, across, bias)[3]));
}

/// Autocast to bfloat16 inside its scope.
class Autocast {
 public:
  Autocast() {
    at::autocast::set_autocast_enabled(torch::kCPU, true);
    at::autocast::set_autocast_dtype(torch::kCPU, torch::kBFloat16);
  }
  ~Autocast() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(torch::kCPU, false);
  }
};

/// The value of `layer` at `leaves` under autocast, and their gradients for a given upstream gradient.
std::vector<torch::Tensor> autocast_run(const std::vector<torch::Tensor>& leaves,
                                        const std::function<torch::Tensor(const std::vector<torch::Tensor>&)>& layer) {
  torch::Tensor out;
  {
    const Autocast scope;
    out = layer(leaves);
  }
  torch::manual_seed(2);
  std::vector<torch::Tensor> found = torch::autograd::grad({out}, leaves, {torch::randn_like(out)});
  found.push_back(out);
  return found;
}

TEST(Linear, UnderAutocastHasTheValuesOfTorchsInBfloat16) {  // also if the processor has no such products
  torch::manual_seed(1);
  const std::vector<torch::Tensor> leaves{torch::randn({3, 20, 32}).set_requires_grad(true),
                                          torch::randn({24, 32}).set_requires_grad(true),
                                          torch::randn({24}).set_requires_grad(true)};
  using Leaves = std::vector<torch::Tensor>;
  const auto compare = [&](const auto& ours, const auto& torchs) {
    const Leaves given = autocast_run(leaves, ours);
    const Leaves wanted = autocast_run(leaves, torchs);
    for (std::size_t i = 0; i < given.size(); ++i) {
      EXPECT_EQ(given[i].scalar_type(), wanted[i].scalar_type()) << i;
      // A unit in the last place of bfloat16 is 2^-8 of a number; sums of 32 products round to neighbours.
      EXPECT_TRUE(torch::allclose(given[i].to(torch::kFloat), wanted[i].to(torch::kFloat), 1.0 / 128, 0.02)) << i;
    }
    // The operands are rounded, so the result is far from the product in float32.
    const torch::Tensor exact = torchs(leaves);
    EXPECT_GT((given.back() - exact).abs().max().item<double>(), 0.01);
  };
  compare([](const Leaves& x) { return linear_layer(x[0], x[1], x[2]); },
          [](const Leaves& x) { return torch::linear(x[0], x[1], x[2]); });
  compare([](const Leaves& x) { return affine_layer(x[0], x[1].t(), x[2]); },
          [](const Leaves& x) { return torch::linear(x[0], x[1], x[2]); });
}

class SeenWeights : public ProductObserver {
 public:
  void product(const torch::Tensor& /*input*/, const torch::Tensor& weight, const torch::Tensor& output) override {
    weights.push_back(weight);
    outputs.push_back(output);
  }
  std::vector<torch::Tensor> weights, outputs;
};

/// For few rows and for many.
TEST(Linear, SeveralLayersOfOneInputEqualThoseAloneAndAreEachShown) {
  torch::manual_seed(8);
  for (const std::int64_t rows : {3, 20}) {
    const std::vector<torch::Tensor> leaves{torch::randn({2, rows, 16}).set_requires_grad(true),
                                            torch::randn({24, 16}).set_requires_grad(true),
                                            torch::randn({8, 16}).set_requires_grad(true)};
    SeenWeights seen;
    const ObservedProducts observed(&seen);
    const std::vector<torch::Tensor> made = linear_layers(leaves[0], {leaves[1], leaves[2]});
    ASSERT_EQ(made.size(), 2U);
    torch::Tensor given_loss = torch::zeros({});
    torch::Tensor wanted_loss = torch::zeros({});
    for (std::size_t i = 0; i < made.size(); ++i) {
      const torch::Tensor expected = torch::linear(leaves[0], leaves[i + 1]);
      EXPECT_TRUE(torch::allclose(made[i], expected, 1e-5, 1e-5)) << rows;
      EXPECT_TRUE(seen.weights.at(i).is_same(leaves[i + 1])) << rows;
      EXPECT_TRUE(torch::equal(seen.outputs.at(i), made[i])) << rows;
      const torch::Tensor upstream = torch::randn_like(expected);
      given_loss = given_loss + (made[i] * upstream).sum();
      wanted_loss = wanted_loss + (expected * upstream).sum();
    }
    const auto given = torch::autograd::grad({given_loss}, leaves);
    const auto wanted = torch::autograd::grad({wanted_loss}, leaves);
    for (std::size_t i = 0; i < leaves.size(); ++i) EXPECT_TRUE(torch::allclose(given[i], wanted[i], 1e-4, 1e-4)) << i;
  }
}

TEST(Linear, TakesRowsThatAreNotContiguous) {
  const torch::Tensor x = torch::randn({4, 10, 16}).narrow(1, 3, 5);
  const torch::Tensor weight = torch::randn({8, 16});
  EXPECT_TRUE(torch::allclose(linear_layer(x, weight), torch::linear(x, weight), 1e-5, 1e-5));
}

TEST(Linear, AnEmptyInputGivesAnEmptyOutput) {
  EXPECT_EQ(linear_layer(torch::zeros({2, 0, 16}), torch::randn({8, 16})).sizes(),
            (std::vector<std::int64_t>{2, 0, 8}));
}

TEST(Linear, DoublePrecisionStaysDouble) {
  const torch::Tensor x = torch::randn({3, 4}, torch::kDouble);
  EXPECT_EQ(linear_layer(x, torch::randn({2, 4}, torch::kDouble)).scalar_type(), torch::kDouble);
}

}  // namespace
}  // namespace xlm
