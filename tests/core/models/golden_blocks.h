// Models of transformer blocks against golden numbers: options by name, weights, and ten updates
// (tests/golden/blocks.py).
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "core/api/learning_rate.h"
#include "core/api/transformer_options.h"
#include "core/models/capabilities.h"
#include "core/train/optimizer.h"
#include "tests/core/models/golden_values.h"

namespace xlm {

/// The value of an enumeration by its name.
template <class Enum, std::size_t size>
Enum named_choice(const Json& name, const std::array<std::string_view, size>& names) {
  return static_cast<Enum>(std::find(names.begin(), names.end(), name.get<std::string>()) - names.begin());
}

inline BlockOptions golden_block_options(const Json& variant) {
  BlockOptions block;
  block.head_width = 4;
  block.norm = named_choice<BlockOptions::Norm>(variant.at("norm"), BlockOptions::kNormNames);
  block.qk_norm = variant.at("qk_norm").get<bool>();
  block.rotary = named_choice<BlockOptions::Rotary>(variant.at("rotary"), BlockOptions::kRotaryNames);
  block.activation = named_choice<BlockOptions::Activation>(variant.at("activation"), BlockOptions::kActivationNames);
  block.weights = named_choice<BlockOptions::Weights>(variant.at("weights"), BlockOptions::kWeightsNames);
  return block;
}

inline GoldenScale golden_block_scale(const std::string& name) {
  if (name.find("norm") != std::string::npos) return {.mean = 1, .scale = 0.2};
  return {.scale = name.find("embed_") != std::string::npos ? 1.0 : 0.3};
}

/// The tokens that predict these targets [B, T]: a beginning, and all but the last of them.
inline torch::Tensor behind_beginnings(const torch::Tensor& targets) {
  const torch::Tensor beginning = torch::full({targets.size(0), 1}, kBeginning, torch::kLong);
  return torch::cat({beginning, targets.narrow(1, 0, targets.size(1) - 1)}, 1);
}

/// AdamW with multipliers, clipping, warm-up and the half-cosine schedule.
inline void expect_ten_golden_updates(LanguageModel& model, const Json& trained,
                                      const std::function<torch::Tensor(LanguageModel&)>& loss_of) {
  const OptimizerOptions options{.type = OptimizerOptions::Type::kAdamW,
                                 .lr = 0.02,
                                 .schedule = OptimizerOptions::Schedule::kHalfCosine,
                                 .clip_norm = 1,
                                 .beta2 = 0.98,
                                 .weight_decay = 0.01,
                                 .warmup_ratio = 0.3};
  Optimizer optimizer(options, model.weights(), rate_multipliers(model));
  std::int64_t step = 0;
  for (const Json& expected : trained.at("losses")) {
    optimizer.zero_gradients();
    const torch::Tensor loss = loss_of(model);
    EXPECT_NEAR(loss.item<double>(), expected.get<double>(), 1e-10) << "step " << step;
    loss.backward();
    ++step;
    optimizer.step(learning_rate(options, step, 10), step);
  }
  EXPECT_EQ(step, 10);
  for (const auto& [name, weight] : model.weights()) {
    const double sum = trained.at("weights").at(name).get<double>();
    EXPECT_NEAR(weight.abs().sum().item<double>(), sum, 1e-9 * sum) << name;
  }
}

}  // namespace xlm
