// Muon against golden numbers (tests/golden/README.md names their source), and its parts by hand.
#include "core/train/muon.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "core/train/optimizer.h"
#include "tests/core/models/golden_values.h"
#include "tests/core/train/training.h"

namespace xlm {
namespace {

using AdjustLr = OptimizerOptions::AdjustLr;

torch::Tensor golden_formula(std::int64_t index, torch::IntArrayRef shape, double scale) {
  return golden_values(index, shape, scale).to(torch::kDouble);
}

const std::vector<std::pair<std::string, std::vector<std::int64_t>>> kGoldenShapes{{"emb.weight", {7, 6}},
                                                                                   {"layers.0.narrow.weight", {1, 6}},
                                                                                   {"layers.0.norm.weight", {6}},
                                                                                   {"layers.0.square.weight", {6, 6}},
                                                                                   {"layers.0.up.weight", {10, 6}},
                                                                                   {"layers.1.down.weight", {6, 10}},
                                                                                   {"layers.1.square.weight", {6, 6}},
                                                                                   {"out.weight", {7, 6}}};

class MuonGolden : public testing::TestWithParam<torch::ScalarType> {};

TEST_P(MuonGolden, TenUpdatesOfMatricesAndOfTheRestAreTheOnesComputedBySingularValues) {
  const double tolerance = GetParam() == torch::kDouble ? 1e-10 : 1e-5;
  const Json all = read_json(fs::path(XLM_SOURCE_DIR) / "tests/golden/muon.json").at("variants");
  ASSERT_EQ(all.size(), 2U);
  for (const AdjustLr adjust : {AdjustLr::kOriginal, AdjustLr::kMatchRmsAdamW}) {
    const Json& golden = all.at(static_cast<std::size_t>(adjust));
    NamedTensors weights;
    for (const auto& [name, shape] : kGoldenShapes) {
      const auto index = static_cast<std::int64_t>(weights.size());
      weights.emplace_back(name, golden_formula(index, shape, 0.3).to(GetParam()).set_requires_grad(true));
    }
    Optimizer optimizer({.type = OptimizerOptions::Type::kMuon,
                         .lr = 0.02,
                         .clip_norm = 2,
                         .beta1 = 0.8,
                         .beta2 = 0.95,
                         .weight_decay = 0.1,
                         .adjust_lr = adjust,
                         .adamw_lr = adjust == AdjustLr::kOriginal ? 0.003 : 0},
                        weights);
    for (std::int64_t step = 1; step <= 10; ++step) {
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto index = static_cast<std::int64_t>(i);
        const std::vector<std::int64_t>& shape = kGoldenShapes[i].second;
        const torch::Tensor gradient =
            golden_formula(index + 10 * step, shape, 0.5) + golden_formula(3 * index + step, shape, 0.1).square();
        weights[i].second.mutable_grad() = gradient.to(GetParam());
      }
      optimizer.step(0.02, step);
      const Json& sums = golden.at("sums").at(static_cast<std::size_t>(step - 1));
      for (const auto& [name, weight] : weights) {
        const double sum = weight.detach().to(torch::kDouble).abs().sum().item<double>();
        EXPECT_NEAR(sum, sums.at(name).get<double>(), 10 * tolerance) << name << " after step " << step;
      }
    }
    for (const auto& [name, weight] : weights) {
      const auto expected = golden.at("weights").at(name).get<std::vector<double>>();
      const torch::Tensor apart =
          weight.detach().to(torch::kDouble).flatten() - torch::tensor(expected, torch::kDouble);
      EXPECT_LT(apart.abs().max().item<double>(), tolerance) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, MuonGolden, testing::Values(torch::kDouble, torch::kFloat),
                         [](const auto& instance) { return std::string(c10::toString(instance.param)); });

TEST(Muon, SingularValuesAreMovedTowardsOneAndVectorsStay) {
  torch::manual_seed(3);
  for (const auto& [rows, columns] : {std::pair{9, 20}, std::pair{20, 9}, std::pair{12, 12}}) {
    const torch::Tensor matrices = torch::randn({3, rows, columns}, torch::kDouble);
    const torch::Tensor result = orthogonalized(matrices, 5);
    ASSERT_EQ(result.sizes(), matrices.sizes());
    const torch::Tensor values = torch::linalg_svdvals(result, std::nullopt);
    EXPECT_LT(values.max().item<double>(), 1.21);
    // UᵀV of the given matrix and the result's own are the same rotation: their product is symmetric and positive.
    const torch::Tensor product = torch::bmm(matrices.transpose(1, 2), result);
    EXPECT_LT((product - product.transpose(1, 2)).abs().max().item<double>(), 1e-9);
    EXPECT_GT(torch::linalg_eigvalsh(product, "L").min().item<double>(), -1e-9);
  }
}

TEST(Muon, RatesFollowTheShape) {
  EXPECT_DOUBLE_EQ(muon_scale(AdjustLr::kOriginal, 12, 3), 2);
  EXPECT_DOUBLE_EQ(muon_scale(AdjustLr::kOriginal, 3, 12), 1);
  EXPECT_DOUBLE_EQ(muon_scale(AdjustLr::kMatchRmsAdamW, 9, 100), 2);
  EXPECT_DOUBLE_EQ(muon_scale(AdjustLr::kMatchRmsAdamW, 100, 9), 2);
}

TEST(Muon, OnlyMatricesOfLayersAreItsOwn) {
  const torch::Tensor matrix = torch::zeros({3, 4});
  EXPECT_TRUE(is_matrix_of_layer("layers.0.attn.proj_query.weight", matrix));
  EXPECT_TRUE(is_matrix_of_layer("h.11.mlp.c_fc.weight", matrix));
  EXPECT_FALSE(is_matrix_of_layer("model.embed_tokens.weight", matrix));
  EXPECT_FALSE(is_matrix_of_layer("lm_head.weight", matrix));
  EXPECT_FALSE(is_matrix_of_layer("layers.0.norm1.weight", torch::zeros({4})));
  EXPECT_FALSE(is_matrix_of_layer("layers.0.gate.weight", torch::zeros({1, 4})));
}

TEST(Muon, OnlyMatricesHaveOneAverageInTheState) {
  const NamedTensors weights{{"layers.0.fc.weight", torch::zeros({3, 4})}, {"out.weight", torch::zeros({3, 4})}};
  const Optimizer optimizer({.type = OptimizerOptions::Type::kMuon}, weights);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : optimizer.state()) names.push_back(name);
  EXPECT_THAT(names, testing::ElementsAre("optimizer.first.layers.0.fc.weight", "optimizer.first.out.weight",
                                          "optimizer.second.out.weight"));
}

TEST(Muon, RateMultipliersAreForTheRest) {
  NamedTensors weights;
  for (const char* name : {"layers.0.fc.weight", "out.weight"}) {
    weights.emplace_back(name, torch::full({2, 2}, 3.0, torch::kDouble).set_requires_grad(true));
    weights.back().second.mutable_grad() = torch::zeros({2, 2}, torch::kDouble);
  }
  Optimizer optimizer({.type = OptimizerOptions::Type::kMuon, .lr = 0.2, .weight_decay = 0.1, .adamw_lr = 0.02},
                      weights, [](const std::string&) { return 0.5; });
  optimizer.step(0.1, 1);  // gradients of 0 move nothing: what is left is decay, at half of both rates
  EXPECT_DOUBLE_EQ(weights[0].second[0][0].item<double>(), 3 * (1 - 0.1 * 0.1));
  EXPECT_DOUBLE_EQ(weights[1].second[0][0].item<double>(), 3 * (1 - 0.01 * 0.5 * 0.1));
}

TEST(Muon, AModelWithoutMatricesIsRefused) {
  EXPECT_THROW(Optimizer({.type = OptimizerOptions::Type::kMuon}, {{"emb.weight", torch::zeros({3, 4})}}), UsageError);
}

TEST_F(TrainerTest, MuonStoppedAndResumedGivesTheSameBits) {
  const auto with_muon = [this](const std::string& name) {
    TrainJob muon = job(name);
    muon.options.optimizer = {.type = OptimizerOptions::Type::kMuon,
                              .lr = 0.01,
                              .warmup_steps = 5,
                              .schedule = OptimizerOptions::Schedule::kCosine,
                              .clip_norm = 1,
                              .weight_decay = 0.01,
                              .adamw_lr = 5e-3};
    return muon;
  };
  RecordingSink sink;
  expect_the_same_bits(with_muon("whole"), with_muon("parts"), {3, 11}, 24);
  TrainJob longer = with_muon("longer");
  longer.options.train.steps = 150;
  ASSERT_EQ(train(longer, sink), TrainOutcome::kDone);
  EXPECT_LT(sink.losses.at(150), 0.8 * sink.losses.at(1));
}

}  // namespace
}  // namespace xlm
