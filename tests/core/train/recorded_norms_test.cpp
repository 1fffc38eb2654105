// Norms of steps, by hand and in the journal's metrics.
#include "core/train/recorded_norms.h"

#include <cmath>

#include <gtest/gtest.h>

#include "core/train/weight_names.h"
#include "tests/core/train/training.h"

namespace xlm {
namespace {

TEST(WeightNames, ALayerIsTheNameUpToItsNumbers) {
  EXPECT_EQ(layer_of("layers.0.attn.proj_query.weight"), "layers.0");
  EXPECT_EQ(layer_of("layers.1.12.dec_attn.qkv_net.weight"), "layers.1.12");
  EXPECT_EQ(layer_of("model.layers.3.mlp.up_proj.weight"), "model.layers.3");
  EXPECT_EQ(layer_of("model.norm.weight"), "model.norm");
  EXPECT_EQ(layer_of("in_emb.weight"), "in_emb");
  EXPECT_EQ(layer_of("key_pe"), "key_pe");
  EXPECT_TRUE(is_of_numbered_layer("h.3.ln_1.weight"));
  EXPECT_FALSE(is_of_numbered_layer("ln_1.weight"));
}

TEST(RecordedNorms, OfAllWeightsAndOfEveryLayer) {
  NamedTensors weights{{"emb.weight", torch::tensor({1.0, 2.0}, torch::kDouble).set_requires_grad(true)},
                       {"layers.0.a.weight", torch::tensor({3.0}, torch::kDouble).set_requires_grad(true)},
                       {"layers.0.b.weight", torch::tensor({4.0}, torch::kDouble).set_requires_grad(true)}};
  weights[0].second.mutable_grad() = torch::tensor({6.0, 8.0}, torch::kDouble);
  weights[1].second.mutable_grad() = torch::tensor({-24.0}, torch::kDouble);  // the third has no gradient
  RecordedNorms norms(weights);
  norms.before_step();
  {
    const torch::NoGradGuard no_grad;
    weights[0].second.sub_(torch::tensor({1.0, 2.0}, torch::kDouble));
    weights[1].second.add_(9);
    weights[2].second.add_(1);
  }
  const NamedValues values = norms.after_step();
  const NamedValues expected{{"gradient_norm", 26},
                             {"gradient_norm/emb", 10},
                             {"gradient_norm/layers/0", 24},
                             {"weight_norm", 13},
                             {"weight_norm/emb", 0},
                             {"weight_norm/layers/0", 13},
                             {"update_norm", std::sqrt(5 + 82.0)},
                             {"update_norm/emb", std::sqrt(5)},
                             {"update_norm/layers/0", std::sqrt(82)}};
  ASSERT_EQ(values.size(), expected.size());
  for (const auto& [name, value] : expected) EXPECT_NEAR(values.at(name), value, 1e-12) << name;
}

TEST_F(TrainerTest, NormsAreRecordedOnRequestAndChangeNothing) {
  const auto logging = [this](const std::string& name, bool norms) {
    TrainJob logged = job(name);
    logged.options.train.log_every = 4;
    logged.options.train.log_norms = norms;
    return logged;
  };
  RecordingSink with, without;
  const TrainJob on = logging("on", true);
  const TrainJob off = logging("off", false);
  ASSERT_EQ(train(on, with), TrainOutcome::kDone);
  ASSERT_EQ(train(off, without), TrainOutcome::kDone);
  expect_same_model(on, off);
  ASSERT_EQ(with.records.size(), 6U);
  for (const auto& [step, values] : with.records) {
    double squares = 0;
    for (const auto& [name, value] : values) {
      if (name.starts_with("weight_norm/")) squares += value * value;
    }
    EXPECT_NEAR(values.at("weight_norm"), std::sqrt(squares), 1e-9);
    EXPECT_GT(values.at("gradient_norm/layers/1"), 0);
    EXPECT_GT(values.at("update_norm/in_emb"), 0);
    EXPECT_FALSE(without.records.at(step).contains("gradient_norm"));
  }
  // The last step's weights are those of the model.
  double square = 0;
  for (const auto& [name, tensor] : read_safetensors(on.folder / "model/model.safetensors").tensors) {
    if (name.starts_with("layers.1.")) square += tensor.to(torch::kDouble).square().sum().item<double>();
  }
  EXPECT_NEAR(with.records.at(24).at("weight_norm/layers/1"), std::sqrt(square), 1e-5);
}

}  // namespace
}  // namespace xlm
