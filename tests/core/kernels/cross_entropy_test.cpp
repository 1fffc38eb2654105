// Cross-entropy in pieces against libtorch's own.
#include "core/kernels/cross_entropy.h"

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include "tests/core/kernels/called_operations.h"
#include "tests/core/kernels/counted_memory.h"

namespace xlm {
namespace {

/// More rows than one piece has, more symbols than a sum of one type takes, and a width that is no multiple of a tile.
struct CrossEntropyCase {
  explicit CrossEntropyCase(torch::ScalarType type, bool with_bias = true) {
    torch::manual_seed(1);
    hidden = (torch::randn({3, 201, 20}, type) * 2).set_requires_grad(true);
    weight = torch::randn({9001, 20}, type).set_requires_grad(true);
    if (with_bias) bias = torch::randn({9001}, type).set_requires_grad(true);
    targets = torch::randint(9001, {3, 201});
    targets[1].narrow(0, 40, 100).fill_(kNoTarget);
  }
  std::vector<torch::Tensor> leaves() const {
    return bias.defined() ? std::vector<torch::Tensor>{hidden, weight, bias}
                          : std::vector<torch::Tensor>{hidden, weight};
  }
  torch::Tensor loss() const { return summed_cross_entropy(hidden, weight, bias, targets); }
  torch::Tensor plain_loss() const { return plain_summed_cross_entropy(hidden, weight, bias, targets); }

  torch::Tensor hidden, weight, bias, targets;
};

void expect_equal_gradients(const CrossEntropyCase& c, double relative, const torch::Tensor& loss) {
  const auto wanted = torch::autograd::grad({c.plain_loss() * 0.3}, c.leaves());
  const auto given = torch::autograd::grad({loss * 0.3}, c.leaves());
  ASSERT_EQ(given.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double error = (given[i] - wanted[i]).norm().item<double>() / wanted[i].norm().item<double>();
    EXPECT_LT(error, relative) << i;
  }
}

TEST(CrossEntropy, EqualsThatOfAllLogitsAtOnceInValueAndGradient) {
  for (const bool with_bias : {false, true}) {
    const CrossEntropyCase exact(torch::kDouble, with_bias);
    EXPECT_NEAR(exact.loss().item<double>(), exact.plain_loss().item<double>(), 1e-9);
    expect_equal_gradients(exact, 1e-12, exact.loss());
    const CrossEntropyCase single(torch::kFloat, with_bias);
    EXPECT_NEAR(single.loss().item<double>() / single.plain_loss().item<double>(), 1, 1e-6);
    expect_equal_gradients(single, 1e-5, single.loss());
  }
}

TEST(CrossEntropy, IsTorchsSumOverScoredPlaces) {
  const CrossEntropyCase c(torch::kDouble);
  double expected = 0;
  const torch::Tensor log_p = torch::log_softmax(torch::matmul(c.hidden, c.weight.t()) + c.bias, -1);
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t place = 0; place < 201; ++place) {
      const auto target = c.targets[row][place].item<std::int64_t>();
      if (target != kNoTarget) expected -= log_p[row][place][target].item<double>();
    }
  }
  EXPECT_NEAR(c.loss().item<double>(), expected, 1e-8);
}

TEST(CrossEntropy, WithoutGradientsIsTheSame) {
  const CrossEntropyCase c(torch::kFloat);
  const double with_gradient = c.loss().item<double>();
  const torch::NoGradGuard no_grad;
  EXPECT_NEAR(c.loss().item<double>() / with_gradient, 1, 1e-7);
}

TEST(CrossEntropy, UnderAutocastMultipliesInBfloat16) {
  const CrossEntropyCase c(torch::kFloat);
  const double expected = c.plain_loss().item<double>();
  const auto wanted = torch::autograd::grad({c.plain_loss()}, c.leaves());
  at::autocast::set_autocast_enabled(torch::kCPU, true);
  const torch::Tensor loss = c.loss();
  const auto given = torch::autograd::grad({loss}, c.leaves());
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(torch::kCPU, false);
  EXPECT_NE(loss.item<double>(), expected);
  EXPECT_NEAR(loss.item<double>() / expected, 1, 2e-3);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(given[i].scalar_type(), torch::kFloat);
    EXPECT_LT((given[i] - wanted[i]).norm().item<double>(), 0.03 * wanted[i].norm().item<double>()) << i;
  }
}

// The GPU's version, here on the CPU: it pads 9,001 symbols to 9,024, a multiple of 64.
TEST(ComposedCrossEntropy, EqualsThatOfAllLogitsForAnyPieces) {
  for (const LogitPieces& pieces : {LogitPieces{.rows = 100, .multiple = 64}, LogitPieces{.rows = 1000, .multiple = 64},
                                    LogitPieces{.rows = 67}, LogitPieces{}, LogitPieces{.multiple = 9001}}) {
    for (const bool with_bias : {false, true}) {
      const auto loss = [&](const CrossEntropyCase& c) {
        return composed_summed_cross_entropy(c.hidden, c.weight, c.bias, c.targets, pieces);
      };
      const CrossEntropyCase exact(torch::kDouble, with_bias);
      EXPECT_NEAR(loss(exact).item<double>(), exact.plain_loss().item<double>(), 1e-9);
      expect_equal_gradients(exact, 1e-12, loss(exact));
      const CrossEntropyCase single(torch::kFloat, with_bias);
      EXPECT_NEAR(loss(single).item<double>() / single.plain_loss().item<double>(), 1, 1e-6);
      expect_equal_gradients(single, 1e-5, loss(single));
      const torch::NoGradGuard no_grad;
      EXPECT_NEAR(loss(exact).item<double>(), exact.plain_loss().item<double>(), 1e-9);
    }
  }
}

TEST(ComposedCrossEntropy, PaddingHasNeitherProbabilityNorGradient) {
  CrossEntropyCase c(torch::kDouble);
  torch::NoGradGuard no_grad;
  c.bias.fill_(-800);  // a padding logit of 0, as rows of zeros would give, would have all of the probability
  torch::AutoGradMode gradients(true);
  const torch::Tensor loss = composed_summed_cross_entropy(c.hidden, c.weight, c.bias, c.targets, {.multiple = 64});
  EXPECT_NEAR(loss.item<double>() / c.plain_loss().item<double>(), 1, 1e-12);
  expect_equal_gradients(c, 1e-12, loss);
}

TEST(ComposedCrossEntropy, NeverWaitsAndNeverHoldsAllLogits) {
  CrossEntropyCase c(torch::kFloat);
  const auto peak = [&](const LogitPieces& pieces) {
    const CountedMemory memory;
    const CalledOperations called;
    const torch::Tensor loss = composed_summed_cross_entropy(c.hidden, c.weight, c.bias, c.targets, pieces);
    torch::autograd::grad({loss}, c.leaves());
    EXPECT_EQ(called.of("aten::item"), 0);
    EXPECT_EQ(called.of("aten::_local_scalar_dense"), 0);
    EXPECT_EQ(called.of("aten::nonzero"), 0);
    return memory.peak();
  };
  peak({.rows = 50});  // libtorch's first call sets itself up
  const std::int64_t all = 603 * 9001 * static_cast<std::int64_t>(sizeof(float));
  EXPECT_GT(peak({.rows = 603}), 2 * all);
  EXPECT_LT(peak({.rows = 50}), all / 2);
}

TEST(ComposedCrossEntropy, UnderAutocastMultipliesInBfloat16) {
  const CrossEntropyCase c(torch::kFloat);
  const auto wanted = torch::autograd::grad({c.plain_loss()}, c.leaves());
  at::autocast::set_autocast_enabled(torch::kCPU, true);
  const torch::Tensor loss =
      composed_summed_cross_entropy(c.hidden, c.weight, c.bias, c.targets, {.rows = 100, .multiple = 64});
  const auto given = torch::autograd::grad({loss}, c.leaves());
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(torch::kCPU, false);
  EXPECT_NEAR(loss.item<double>() / c.plain_loss().item<double>(), 1, 2e-3);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(given[i].scalar_type(), torch::kFloat);
    EXPECT_LT((given[i] - wanted[i]).norm().item<double>(), 0.03 * wanted[i].norm().item<double>()) << i;
  }
}

TEST(CrossEntropy, OfNoScoredPlaceIsZero) {
  CrossEntropyCase c(torch::kFloat);
  c.targets.fill_(kNoTarget);
  EXPECT_EQ(c.loss().item<double>(), 0);
  const torch::Tensor composed = composed_summed_cross_entropy(c.hidden, c.weight, c.bias, c.targets, {.multiple = 64});
  EXPECT_EQ(composed.item<double>(), 0);
  for (const torch::Tensor& loss : {c.loss(), composed}) {
    for (const torch::Tensor& gradient : torch::autograd::grad({loss}, c.leaves())) {
      EXPECT_EQ(gradient.abs().sum().item<double>(), 0);
    }
  }
}

}  // namespace
}  // namespace xlm
