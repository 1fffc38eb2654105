// Boundary samples, targets and losses by hand.
#include <cmath>

#include <gtest/gtest.h>

#include "core/nn/boundary_predictor.h"
#include "core/nn/transformer_xl.h"

namespace xlm {
namespace {

TEST(GumbelBoundaries, AreHardInValueAndSoftInGradient) {
  const torch::Tensor logits = torch::randn({3, 50}, torch::kDouble).set_requires_grad(true);
  torch::manual_seed(5);
  const torch::Tensor hard = gumbel_boundaries(logits, 0.5);
  EXPECT_TRUE(((hard == 0) | (hard == 1)).all().item<bool>());
  hard.sum().backward();
  // The same noise again: soft = σ((logit + log u − log(1 − u)) / 0.5), its derivative soft (1 − soft) / 0.5.
  torch::manual_seed(5);
  const torch::Tensor noise = torch::rand({3, 50}, torch::kDouble);
  const torch::Tensor soft = torch::sigmoid((logits.detach() + torch::log(noise / (1 - noise))) / 0.5);
  EXPECT_TRUE(torch::equal(hard.detach(), (soft > 0.5).to(torch::kDouble)));
  EXPECT_TRUE(torch::allclose(logits.grad(), soft * (1 - soft) / 0.5, 1e-10, 1e-12));
}

// Like torch's relaxed Bernoulli, which clamps the probability to [ε, 1 − ε] of its type; outside the gradient is 0.
TEST(GumbelBoundaries, ProbabilitiesAreClampedAsTorchsAre) {
  const torch::Tensor logits = torch::tensor({{-20.0F, -10.0F, 0.0F, 10.0F, 20.0F}}).set_requires_grad(true);
  torch::manual_seed(5);
  gumbel_boundaries(logits, 0.5).sum().backward();
  torch::manual_seed(5);
  const torch::Tensor noise = torch::rand({1, 5});
  const torch::Tensor p = torch::sigmoid(logits.detach());
  const torch::Tensor soft = torch::sigmoid((p.log() - (-p).log1p() + noise.log() - (-noise).log1p()) / 0.5);
  const torch::Tensor expected = soft * (1 - soft) / 0.5;
  EXPECT_GT(logits.grad()[0][1].item<double>(), 0);
  for (const std::int64_t inside : {1, 2, 3}) {
    EXPECT_NEAR(logits.grad()[0][inside].item<double>(), expected[0][inside].item<double>(),
                1e-3 * expected[0][inside].item<double>() + 1e-12);
  }
  EXPECT_EQ(logits.grad()[0][0].item<double>(), 0);
  EXPECT_EQ(logits.grad()[0][4].item<double>(), 0);
}

// ε depends on the type.
TEST(GumbelBoundaries, AreClampedAsFarAsTheirTypeAsks) {
  const torch::Tensor logits =
      torch::full({1, 1000}, -6.0F).to(torch::kBFloat16).set_requires_grad(true);  // σ(−6) < 2⁻⁷, bfloat16's ε
  gumbel_boundaries(logits, 0.5).sum().backward();
  EXPECT_EQ(logits.grad().abs().max().item<double>(), 0);
}

TEST(GumbelBoundaries, OccurAsOftenAsTheirProbability) {
  torch::manual_seed(6);
  const torch::Tensor logits = torch::full({100, 1000}, std::log(0.3 / 0.7), torch::kDouble);
  EXPECT_NEAR(gumbel_boundaries(logits, 0.5).mean().item<double>(), 0.3, 0.01);
}

TEST(BinomialPrior, EqualsAHandComputation) {
  // T = 4, α = 0.25: n = 1: 4 · 0.25 · 0.75³ = 0.421875; n = 3: 4 · 0.25³ · 0.75 = 0.046875.
  const torch::Tensor boundaries = torch::tensor({{0, 1, 0, 0}, {1, 1, 0, 1}}, torch::kDouble);
  const double expected = -(std::log(0.421875) + std::log(0.046875)) / 2 / 4;
  EXPECT_NEAR(binomial_prior_loss(boundaries, 0.25).item<double>(), expected, 1e-14);
}

TEST(BinomialPrior, PushesTheShareOfBoundariesTowardsThePrior) {
  torch::Tensor boundaries = torch::zeros({1, 100}, torch::kDouble);
  boundaries.narrow(1, 0, 50).fill_(1);
  boundaries.set_requires_grad(true);
  binomial_prior_loss(boundaries, 0.2).backward();
  EXPECT_GT(boundaries.grad()[0][99].item<double>(), 0);  // too many
  const torch::Tensor none = torch::zeros({1, 100}, torch::kDouble).set_requires_grad(true);
  binomial_prior_loss(none, 0.2).backward();
  EXPECT_LT(none.grad()[0][0].item<double>(), 0);  // too few
}

TEST(RangePrior, IsTheMeanDistanceOfTheShareFromTheRange) {
  // Shares 0, 0.5 and 1 and the range [0.25, 0.6]: 0.25 too few, none, 0.4 too many.
  torch::Tensor boundaries = torch::tensor({{0, 0, 0, 0}, {1, 0, 1, 0}, {1, 1, 1, 1}}, torch::kDouble);
  boundaries.set_requires_grad(true);
  const torch::Tensor loss = range_prior_loss(boundaries, 0.25, 0.6);
  EXPECT_NEAR(loss.item<double>(), (0.25 + 0.4) / 3, 1e-15);
  loss.backward();
  const double slope = 1.0 / (3 * 4);
  EXPECT_TRUE(torch::allclose(boundaries.grad()[0], torch::full({4}, -slope, torch::kDouble), 0, 1e-15));
  EXPECT_EQ(boundaries.grad()[1].abs().max().item<double>(), 0);
  EXPECT_TRUE(torch::allclose(boundaries.grad()[2], torch::full({4}, slope, torch::kDouble), 0, 1e-15));
}

TEST(RangePrior, TheEndsOfTheRangeAreWithinIt) {
  torch::Tensor boundaries = torch::tensor({{1, 0, 0, 0}, {1, 1, 0, 0}}, torch::kDouble);
  boundaries.set_requires_grad(true);
  const torch::Tensor loss = range_prior_loss(boundaries, 0.25, 0.5);
  EXPECT_EQ(loss.item<double>(), 0);
  loss.backward();
  EXPECT_EQ(boundaries.grad().abs().max().item<double>(), 0);
  EXPECT_NEAR(range_prior_loss(boundaries, -0.1, 0.3).item<double>(), 0.1, 1e-15) << "no lower limit";
}

/// Logits over three symbols whose entropy rises with `evenness`: (e, e, 1) is most even at 0.
torch::Tensor logits_of_entropies(const std::vector<double>& evenness) {
  std::vector<torch::Tensor> rows;
  for (const double value : evenness) rows.push_back(torch::tensor({10.0 * (1 - value), 0.0, 0.0}, torch::kDouble));
  return torch::stack(rows).unsqueeze(0);
}

TEST(EntropySpikes, ExceedEveryTokenOfTheWindowBefore) {
  const torch::Tensor logits = logits_of_entropies({0.5, 0.4, 0.6, 0.3, 0.5, 0.55, 0.9, 0.9});
  // k = 2: the first has none before it; 0.4 < 0.5; 0.6 > both; 0.3; 0.5 < 0.6; 0.55 > 0.3, 0.5; 0.9; equal to itself.
  EXPECT_TRUE(torch::equal(entropy_spikes(logits, 2)[0], torch::tensor({1, 0, 1, 0, 0, 1, 1, 0}).to(torch::kBool)));
  EXPECT_TRUE(torch::equal(entropy_spikes(logits, 1)[0], torch::tensor({1, 0, 1, 0, 1, 1, 1, 0}).to(torch::kBool)));
  EXPECT_TRUE(torch::equal(entropy_spikes(logits, 100)[0], torch::tensor({1, 0, 1, 0, 0, 0, 1, 0}).to(torch::kBool)));
  EXPECT_TRUE(entropy_spikes(logits.narrow(1, 0, 1), 2).item<bool>());
}

TEST(BoundaryCrossEntropy, PublishedAppliesTheSigmoidTwice) {
  const torch::Tensor logits = torch::tensor({{2.0, -1.0}}, torch::kDouble);
  const torch::Tensor target = torch::tensor({{1, 0}}).to(torch::kBool);
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_NEAR(boundary_cross_entropy(logits, target, false).item<double>(),
              -(std::log(sigmoid(2)) + std::log(1 - sigmoid(-1))) / 2, 1e-14);
  EXPECT_NEAR(boundary_cross_entropy(logits, target, true).item<double>(),
              -(std::log(sigmoid(sigmoid(2))) + std::log(1 - sigmoid(sigmoid(-1)))) / 2, 1e-14);
}

TEST(SinusoidTable, HoldsSinesThenCosines) {
  const torch::Tensor table = sinusoid_table(5, 4, torch::TensorOptions(torch::kDouble));
  ASSERT_EQ(table.sizes(), (std::vector<std::int64_t>{5, 4}));
  EXPECT_NEAR(table[3][0].item<double>(), std::sin(3.0), 1e-15);
  EXPECT_NEAR(table[3][1].item<double>(), std::sin(3.0 / 100), 1e-15);  // 10000^(−2/4)
  EXPECT_NEAR(table[3][2].item<double>(), std::cos(3.0), 1e-15);
  EXPECT_NEAR(table[3][3].item<double>(), std::cos(3.0 / 100), 1e-15);
}

}  // namespace
}  // namespace xlm
