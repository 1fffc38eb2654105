// Optimiser steps and schedules by hand.
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "core/train/optimizer.h"

#include "core/api/learning_rate.h"
#include "tests/core/kernels/called_operations.h"

namespace xlm {
namespace {

torch::Tensor weight_with_gradient(std::vector<double> weight, std::vector<double> gradient) {
  torch::Tensor tensor = torch::tensor(weight, torch::kDouble).set_requires_grad(true);
  tensor.mutable_grad() = torch::tensor(gradient, torch::kDouble);
  return tensor;
}

TEST(LearningRate, RisesLinearlyThenStaysAndDropsIfAsked) {
  OptimizerOptions options{.lr = 0.07, .warmup_steps = 4};
  EXPECT_DOUBLE_EQ(learning_rate(options, 1, 100), 0.07 / 4);
  EXPECT_DOUBLE_EQ(learning_rate(options, 3, 100), 0.07 * 3 / 4);
  EXPECT_DOUBLE_EQ(learning_rate(options, 4, 100), 0.07);
  EXPECT_DOUBLE_EQ(learning_rate(options, 100, 100), 0.07);
  options.drop_after = 50;
  EXPECT_DOUBLE_EQ(learning_rate(options, 50, 100), 0.07);
  EXPECT_DOUBLE_EQ(learning_rate(options, 51, 100), 0.007);
}

TEST(LearningRate, CosineEndsAtZero) {
  const OptimizerOptions options{.lr = 1, .warmup_steps = 10, .schedule = OptimizerOptions::Schedule::kCosine};
  EXPECT_DOUBLE_EQ(learning_rate(options, 10, 110), 1);
  EXPECT_DOUBLE_EQ(learning_rate(options, 60, 110), 0.5);
  EXPECT_NEAR(learning_rate(options, 110, 110), 0, 1e-15);
}

TEST(LearningRate, CosineAtItsCorners) {
  const OptimizerOptions paper{.lr = 2.5e-4, .warmup_steps = 4000, .schedule = OptimizerOptions::Schedule::kCosine};
  EXPECT_DOUBLE_EQ(learning_rate(paper, 1, 200000), 2.5e-4 / 4000);  // the published first step has the whole rate
  EXPECT_DOUBLE_EQ(learning_rate(paper, 3999, 200000), 2.5e-4 * 3999 / 4000);
  EXPECT_DOUBLE_EQ(learning_rate(paper, 4000, 200000), 2.5e-4);
  EXPECT_DOUBLE_EQ(learning_rate(paper, 4001, 200000), 1.25e-4 * (1 + std::cos(std::acos(-1.0) / 196000)));
  EXPECT_NEAR(learning_rate(paper, 102000, 200000), 1.25e-4, 1e-18);
  EXPECT_GT(learning_rate(paper, 199999, 200000), 0);
  EXPECT_NEAR(learning_rate(paper, 200000, 200000), 0, 1e-18);
}

TEST(LearningRate, TheOtherSchedulesFallAsTheySay) {
  using Schedule = OptimizerOptions::Schedule;
  const OptimizerOptions half{.lr = 1, .warmup_steps = 4, .schedule = Schedule::kHalfCosine};
  EXPECT_DOUBLE_EQ(learning_rate(half, 1, 100), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(half, 2, 100), 0.5 * std::cos(std::acos(-1.0) / 200));
  EXPECT_NEAR(learning_rate(half, 51, 100), std::sqrt(0.5), 1e-15);
  const OptimizerOptions linear{.lr = 1, .warmup_steps = 10, .schedule = Schedule::kLinear};
  EXPECT_DOUBLE_EQ(learning_rate(linear, 5, 110), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(linear, 60, 110), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(linear, 110, 110), 0);
  OptimizerOptions wsd{.lr = 1, .schedule = Schedule::kWsd};
  EXPECT_DOUBLE_EQ(learning_rate(wsd, 80, 100), 1);
  EXPECT_DOUBLE_EQ(learning_rate(wsd, 90, 100), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(wsd, 100, 100), 0);
  wsd.decay_ratio = 0.5;
  EXPECT_DOUBLE_EQ(learning_rate(wsd, 50, 100), 1);
  EXPECT_DOUBLE_EQ(learning_rate(wsd, 75, 100), 0.5);
}

TEST(LearningRate, AScheduleEndsAtItsLeastRateAndWarmUpMayBeAShare) {
  OptimizerOptions options{.lr = 2, .schedule = OptimizerOptions::Schedule::kCosine, .warmup_ratio = 0.1};
  options.min_lr_ratio = 0.1;
  EXPECT_DOUBLE_EQ(learning_rate(options, 5, 100), 1);
  EXPECT_DOUBLE_EQ(learning_rate(options, 10, 100), 2);
  EXPECT_DOUBLE_EQ(learning_rate(options, 55, 100), 2 * (0.1 + 0.9 * 0.5));
  EXPECT_NEAR(learning_rate(options, 100, 100), 0.2, 1e-15);
}

TEST(OptimizerOptions, WhatDoesNotGoTogetherIsSaid) {
  const auto problem = [](const OptimizerOptions& options) {
    const auto found = options.problem();
    return found ? found->first : "";
  };
  using Type = OptimizerOptions::Type;
  EXPECT_EQ(problem({}), "");
  EXPECT_EQ(problem({.type = Type::kAdamW, .beta1 = 0.8, .weight_decay = 0.1}), "");
  EXPECT_EQ(problem({.type = Type::kAdam, .weight_decay = 0.1}), "weight_decay");
  EXPECT_EQ(problem({.type = Type::kAdagrad, .beta1 = 0.8}), "beta1");
  EXPECT_EQ(problem({.type = Type::kAdagrad, .beta2 = 0.8}), "beta2");
  EXPECT_EQ(problem({.type = Type::kAdagrad, .epsilon = 1e-3}), "epsilon");
  EXPECT_EQ(problem({.type = Type::kMuon, .beta1 = 0.8, .weight_decay = 0.1, .momentum = 0.9, .adamw_lr = 1e-3}), "");
  EXPECT_EQ(problem({.type = Type::kAdamW, .momentum = 0.9}), "momentum");
  EXPECT_EQ(problem({.type = Type::kAdamW, .ns_steps = 3}), "ns_steps");
  EXPECT_EQ(problem({.type = Type::kAdamW, .adjust_lr = OptimizerOptions::AdjustLr::kMatchRmsAdamW}), "adjust_lr");
  EXPECT_EQ(problem({.type = Type::kAdamW, .adamw_lr = 1e-3}), "adamw_lr");
  EXPECT_EQ(problem({.warmup_steps = 3, .warmup_ratio = 0.1}), "warmup_ratio");
  EXPECT_EQ(problem({.min_lr_ratio = 0.1}), "min_lr_ratio");
  EXPECT_EQ(problem({.schedule = OptimizerOptions::Schedule::kLinear, .decay_ratio = 0.1}), "decay_ratio");
}

TEST(Adagrad, StepIsScaledByTheNormAndTheAccumulatorIsNot) {
  const torch::Tensor weight = weight_with_gradient({1, 2}, {3, -4});  // norm 5
  Optimizer optimizer({.type = OptimizerOptions::Type::kAdagrad, .clip_step = 0.03}, {{"w", weight}});
  optimizer.step(0.1, 1);
  const double rate = 0.1 * 0.03 / (5 + 1e-10);
  EXPECT_NEAR(weight[0].item<double>(), 1 - rate * 3 / (3 + 1e-10), 1e-15);
  EXPECT_NEAR(weight[1].item<double>(), 2 + rate * 4 / (4 + 1e-10), 1e-15);
  const torch::Tensor sum = optimizer.state().front().second;
  EXPECT_DOUBLE_EQ(sum[0].item<double>(), 9);
  EXPECT_DOUBLE_EQ(sum[1].item<double>(), 16);
}

TEST(Adagrad, SmallGradientsAreNotClipped) {
  const torch::Tensor weight = weight_with_gradient({1}, {0.02});
  Optimizer optimizer({.type = OptimizerOptions::Type::kAdagrad, .clip_step = 0.03}, {{"w", weight}});
  optimizer.step(0.1, 1);
  EXPECT_NEAR(weight.item<double>(), 1 - 0.1 * 0.02 / (0.02 + 1e-10), 1e-15);
}

// The GPU's update equals the CPU's, and never waits for the device.
TEST(Adagrad, AllWeightsTogetherEqualOneByOne) {
  torch::manual_seed(5);
  for (const double clip_step : {0.0, 12.0}) {  // some gradients are longer than that, some shorter
    NamedTensors weights;
    for (const std::int64_t size : {3, 40, 25}) {
      torch::Tensor weight = torch::randn({size, 7}, torch::kDouble).set_requires_grad(true);
      weights.emplace_back(std::to_string(size), weight);
    }
    std::vector<torch::Tensor> copies, sums;
    for (const auto& [name, weight] : weights) {
      copies.push_back(weight.detach().clone());
      sums.push_back(torch::zeros_like(copies.back()));
    }
    Optimizer optimizer({.type = OptimizerOptions::Type::kAdagrad, .clip_step = clip_step}, weights);
    int longer = 0;
    int shorter = 0;
    for (int step = 1; step <= 3; ++step) {
      std::vector<torch::Tensor> gradients;
      for (auto& [name, weight] : weights) {
        gradients.push_back(torch::randn_like(weight));
        weight.mutable_grad() = gradients.back().clone();
        ++(gradients.back().norm().item<double>() > 12 ? longer : shorter);
      }
      optimizer.step(0.07, step);
      const CalledOperations called;
      adagrad_together(copies, gradients, sums, 0.07, clip_step);
      EXPECT_EQ(called.of("aten::item"), 0);
      EXPECT_EQ(called.of("aten::_local_scalar_dense"), 0);
    }
    EXPECT_GT(longer, 0);
    EXPECT_GT(shorter, 0);
    for (std::size_t i = 0; i < copies.size(); ++i) {
      EXPECT_LT((weights[i].second - copies[i]).abs().max().item<double>(), 1e-14) << clip_step << " " << i;
    }
  }
}

TEST(Adam, FirstTwoStepsByHand) {
  const torch::Tensor weight = weight_with_gradient({1}, {0.5});
  Optimizer optimizer({.type = OptimizerOptions::Type::kAdam}, {{"w", weight}});
  optimizer.step(0.01, 1);
  EXPECT_NEAR(weight.item<double>(), 1 - 0.01 * 0.5 / (0.5 + 1e-8), 1e-12);
  const double before = weight.item<double>();
  weight.mutable_grad() = torch::tensor({-1.0}, torch::kDouble);
  optimizer.step(0.01, 2);
  const double m = (0.9 * 0.05 - 0.1) / (1 - 0.81);
  const double v = (0.999 * 0.001 * 0.25 + 0.001) / (1 - 0.999 * 0.999);
  EXPECT_NEAR(weight.item<double>(), before - 0.01 * m / (std::sqrt(v) + 1e-8), 1e-12);
}

TEST(AdamW, OnlyMatricesDecayIfThatIsChosenAndEachTensorHasItsRate) {
  using Decay = OptimizerOptions::Decay;
  for (const Decay decay : {Decay::kAll, Decay::kMatrices}) {
    torch::Tensor matrix = torch::full({2, 2}, 3.0, torch::kDouble);
    torch::Tensor vector = torch::full({2}, 3.0, torch::kDouble);
    for (torch::Tensor* weight : {&matrix, &vector}) weight->mutable_grad() = torch::zeros_like(*weight);
    Optimizer optimizer({.type = OptimizerOptions::Type::kAdamW, .weight_decay = 0.1, .decay = decay},
                        {{"matrix", matrix}, {"vector", vector}},
                        [](const std::string& name) { return name == "matrix" ? 0.5 : 1.0; });
    optimizer.step(0.2, 1);  // gradients of 0 move nothing: what is left is decay
    EXPECT_DOUBLE_EQ(matrix[0][0].item<double>(), 3 * (1 - 0.1 * 0.1));
    EXPECT_DOUBLE_EQ(vector[0].item<double>(), decay == Decay::kAll ? 3 * (1 - 0.1 * 0.2) : 3);
  }
}

TEST(ClipNorm, ScalesAllGradientsTogether) {
  const torch::Tensor a = weight_with_gradient({0}, {3});
  const torch::Tensor b = weight_with_gradient({0}, {4});
  Optimizer optimizer({.type = OptimizerOptions::Type::kAdam, .clip_norm = 1}, {{"a", a}, {"b", b}});
  optimizer.step(0.01, 1);
  EXPECT_NEAR(a.grad().item<double>(), 3.0 / (5 + 1e-6), 1e-12);
  EXPECT_NEAR(b.grad().item<double>(), 4.0 / (5 + 1e-6), 1e-12);
}

TEST(ClipNorm, ALimitBeyondFloatsIsNone) {
  torch::Tensor weight = torch::zeros({1});
  weight.mutable_grad() = torch::full({1}, 3.0F);
  Optimizer optimizer({.type = OptimizerOptions::Type::kAdam, .clip_norm = 1e308}, {{"w", weight}});
  optimizer.step(0.01, 1);
  EXPECT_EQ(weight.grad().item<float>(), 3.0F);
}

TEST(Optimizer, RestoreRefusesAStateThatDoesNotFit) {
  const torch::Tensor weight = weight_with_gradient({1}, {0.5});
  Optimizer optimizer({}, {{"w", weight}});
  EXPECT_THROW(optimizer.restore({{"optimizer.first.w", torch::zeros({2})}}, "test"), DataError);
  EXPECT_THROW(optimizer.restore({}, "test"), DataError);
}

}  // namespace
}  // namespace xlm
