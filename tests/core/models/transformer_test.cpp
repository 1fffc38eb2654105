// The transformer against golden numbers (tests/golden/README.md says whose), and what is left of it in other programs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "core/api/learning_rate.h"
#include "core/api/transformer_options.h"
#include "core/models/capabilities.h"
#include "core/models/model_folder.h"
#include "core/train/optimizer.h"
#include "tests/core/models/golden_values.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr std::int64_t kTransformerSymbols = 11;
constexpr std::int64_t kTransformerBatch = 3;
constexpr std::int64_t kTransformerLength = 23;

/// The value of an enumeration by its name.
template <class Enum, std::size_t size>
Enum named(const Json& name, const std::array<std::string_view, size>& names) {
  return static_cast<Enum>(std::find(names.begin(), names.end(), name.get<std::string>()) - names.begin());
}

TransformerOptions golden_options(const Json& variant) {
  TransformerOptions options{.width = 16, .layers = 3, .feed_forward = 24};
  options.positions = variant.at("positions").get<std::int64_t>();
  options.tied = variant.at("tied").get<bool>();
  BlockOptions& block = options.block;
  block.head_width = 4;
  block.norm = named<BlockOptions::Norm>(variant.at("norm"), BlockOptions::kNormNames);
  block.qk_norm = variant.at("qk_norm").get<bool>();
  block.key_value_heads = variant.at("key_value_heads").get<std::int64_t>();
  block.windows = variant.at("windows").get<std::vector<std::int64_t>>();
  block.rotary = named<BlockOptions::Rotary>(variant.at("rotary"), BlockOptions::kRotaryNames);
  block.activation = named<BlockOptions::Activation>(variant.at("activation"), BlockOptions::kActivationNames);
  block.weights = named<BlockOptions::Weights>(variant.at("weights"), BlockOptions::kWeightsNames);
  return options;
}

/// Weights by formula, indexed by the place of the name in alphabetical order; in double.
std::shared_ptr<LanguageModel> golden_transformer(const TransformerOptions& options) {
  const auto model = make_model(options, kTransformerSymbols);
  model->to(torch::kDouble);
  fill_golden_weights(*model, [](const std::string& name) -> GoldenScale {
    if (name.find("norm") != std::string::npos) return {.mean = 1, .scale = 0.2};
    return {.scale = name.find("embed_") != std::string::npos ? 1.0 : 0.3};
  });
  return model;
}

torch::Tensor transformer_targets() { return golden_text(kTransformerBatch, kTransformerLength, kTransformerSymbols); }

torch::Tensor transformer_tokens() {
  const torch::Tensor beginning = torch::full({kTransformerBatch, 1}, kBeginning, torch::kLong);
  return torch::cat({beginning, transformer_targets().narrow(1, 0, kTransformerLength - 1)}, 1);
}

torch::Tensor transformer_loss(LanguageModel& model) {
  const torch::Tensor logits = model.forward(transformer_tokens(), {}).logits();
  return torch::cross_entropy_loss(logits.flatten(0, 1), transformer_targets().flatten());
}

const Json& transformer_variants() {
  static const Json golden = read_json(fs::path(XLM_SOURCE_DIR) / "tests/golden/transformer.json");
  return golden.at("variants");
}

TEST(Transformer, LogitsLossAndGradientsEqualGoldenNumbers) {
  for (const Json& variant : transformer_variants()) {
    SCOPED_TRACE(variant.at("norm").dump() + variant.at("rotary").dump() + variant.at("activation").dump());
    const auto model = golden_transformer(golden_options(variant));
    const torch::Tensor logits = model->forward(transformer_tokens(), {}).logits();
    for (std::size_t v = 0; v < kTransformerSymbols; ++v) {
      const auto symbol = static_cast<std::int64_t>(v);
      EXPECT_NEAR(logits[1][-1][symbol].item<double>(), variant.at("logits_row_1_last").at(v).get<double>(), 1e-10);
      EXPECT_NEAR(logits[2][4][symbol].item<double>(), variant.at("logits_row_2_token_4").at(v).get<double>(), 1e-10);
    }
    const torch::Tensor loss = transformer_loss(*model);
    EXPECT_NEAR(loss.item<double>(), variant.at("loss").get<double>(), 1e-11);
    loss.backward();
    const Json& norms = variant.at("gradient_norms");
    EXPECT_EQ(norms.size(), model->weights().size());
    for (const auto& [name, weight] : model->weights()) {
      const double norm = norms.at(name).get<double>();
      EXPECT_NEAR(weight.grad().norm().item<double>(), norm, 1e-9 * norm + 1e-12) << name;
    }
  }
}

TEST(Transformer, InSinglePrecisionTheLossIsTheSameToSixDigits) {
  for (const Json& variant : transformer_variants()) {
    const auto model = golden_transformer(golden_options(variant));
    model->to(torch::kFloat);
    EXPECT_NEAR(transformer_loss(*model).item<double>(), variant.at("loss").get<double>(), 1e-5);
  }
}

/// AdamW with multipliers, clipping, warm-up and the half-cosine schedule.
TEST(Transformer, TenUpdatesEqualGoldenNumbers) {
  const OptimizerOptions options{.type = OptimizerOptions::Type::kAdamW,
                                 .lr = 0.02,
                                 .schedule = OptimizerOptions::Schedule::kHalfCosine,
                                 .clip_norm = 1,
                                 .beta2 = 0.98,
                                 .weight_decay = 0.01,
                                 .warmup_ratio = 0.3};
  for (const Json& variant : transformer_variants()) {
    const auto model = golden_transformer(golden_options(variant));
    Optimizer optimizer(options, {model->weights().begin(), model->weights().end()}, rate_multipliers(*model));
    std::int64_t step = 0;
    for (const Json& expected : variant.at("trained").at("losses")) {
      optimizer.zero_gradients();
      const torch::Tensor loss = transformer_loss(*model);
      EXPECT_NEAR(loss.item<double>(), expected.get<double>(), 1e-10) << "step " << step;
      loss.backward();
      ++step;
      optimizer.step(learning_rate(options, step, 10), step);
    }
    EXPECT_EQ(step, 10);
    for (const auto& [name, weight] : model->weights()) {
      const double sum = variant.at("trained").at("weights").at(name).get<double>();
      EXPECT_NEAR(weight.abs().sum().item<double>(), sum, 1e-9 * sum) << name;
    }
  }
}

TEST(Transformer, ReadingBeyondItsContextBeginsAgainWithTheLaterHalf) {
  const auto model = golden_transformer(golden_options(transformer_variants().at(3)));
  model->eval();
  const torch::NoGradGuard no_grad;
  const torch::Tensor text = transformer_targets()[0];
  const auto reader = capability<ReadsIncrementally>(*model)->reader(8);
  torch::Tensor logits;
  for (std::int64_t t = 0; t < 8; ++t) logits = reader->read(text.narrow(0, t, 1));
  // A beginning and 7 tokens are full: the eighth is read behind a beginning and the last four of them.
  const torch::Tensor again = torch::cat({torch::full({1}, kBeginning, torch::kLong), text.narrow(0, 3, 5)});
  EXPECT_TRUE(torch::allclose(logits, model->forward(again.unsqueeze(0), {}).logits()[0][-1], 1e-9, 1e-10));
}

TEST(Transformer, AWindowLongerThanItsPositionsIsRefused) {
  TransformerOptions options = golden_options(transformer_variants().at(0));
  options.positions = 8;
  const auto model = make_model(options, kTransformerSymbols);
  EXPECT_THROW(model->forward(transformer_tokens(), {}), UsageError);
}

TEST(Transformer, OptionsThatDoNotGoTogetherAreRefused) {
  TransformerOptions options{.width = 24};
  options.block.head_width = 16;
  EXPECT_EQ(options.problem()->first, "head_width");
  options.block.head_width = 8;
  EXPECT_EQ(options.problem(), std::nullopt);
  options.block.key_value_heads = 2;
  EXPECT_EQ(options.problem()->first, "key_value_heads");
  options.block.key_value_heads = 3;
  options.block.windows.clear();
  EXPECT_EQ(options.problem()->first, "windows");
  options.block.windows = {0};
  options.block.key_value_heads = 0;
  options.block.head_width = 3;
  EXPECT_EQ(options.problem()->first, "head_width");
}

/// 2·(multiply-adds) by hand: matrices 4k² + 3kF, attention over (T + 1)/2 keys or those of the window, output layer.
TEST(Transformer, CostsFollowTheWindows) {
  TransformerOptions options{.width = 16, .layers = 2, .feed_forward = 24};
  options.block.head_width = 8;
  options.block.windows = {4, 0};
  const NamedValues costs = make_model(options, kTransformerSymbols)->costs(10);
  const double matrices = 4 * 16 * 16 + 3 * 16 * 24;
  const double in_window = (1 + 2 + 3 + 4 * 7) / 10.0;
  const double expected = 2 * (2 * matrices + 2 * 16 * (in_window + 5.5) + 16 * kTransformerSymbols);
  EXPECT_DOUBLE_EQ(costs.at("flops_per_token"), expected);
  EXPECT_DOUBLE_EQ(costs.at("paper_flops"), 2 * (2 * matrices + 2 * 16 * (4 + 10) + 16 * kTransformerSymbols));
}

TEST(Transformer, ALlamaLeavesItsConfiguration) {
  const auto config_of = [](TransformerOptions options) {
    return capability<SharesWeightFiles>(*make_model(options, kTransformerSymbols))->companion_files();
  };
  const Json& llama = transformer_variants().at(2);
  const Json config = Json::parse(config_of(golden_options(llama)).at("config.json"));
  EXPECT_EQ(config.at("model_type"), "llama");
  EXPECT_EQ(config.at("num_key_value_heads"), 2);
  EXPECT_EQ(config.at("head_dim"), 4);
  for (const std::size_t other : {0, 1, 3, 4}) {
    EXPECT_TRUE(config_of(golden_options(transformer_variants().at(other))).empty()) << other;
  }
}

}  // namespace
}  // namespace xlm
