// The transformer against golden numbers (tests/golden/README.md says whose), and what is left of it in other programs.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "core/api/transformer_options.h"
#include "core/models/capabilities.h"
#include "core/models/model_folder.h"
#include "tests/core/models/golden_blocks.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

constexpr std::int64_t kTransformerSymbols = 11;
constexpr std::int64_t kTransformerBatch = 3;
constexpr std::int64_t kTransformerLength = 23;

TransformerOptions golden_options(const Json& variant) {
  TransformerOptions options{.width = 16, .layers = 3, .feed_forward = 24};
  options.positions = variant.at("positions").get<std::int64_t>();
  options.tied = variant.at("tied").get<bool>();
  options.block = golden_block_options(variant);
  options.block.key_value_heads = variant.at("key_value_heads").get<std::int64_t>();
  options.block.windows = variant.at("windows").get<std::vector<std::int64_t>>();
  return options;
}

/// Weights by formula, indexed by the place of the name in alphabetical order; in double.
std::shared_ptr<LanguageModel> golden_transformer(const TransformerOptions& options) {
  const auto model = make_model(options, kTransformerSymbols);
  model->to(torch::kDouble);
  fill_golden_weights(*model, golden_block_scale);
  return model;
}

torch::Tensor transformer_targets() { return golden_text(kTransformerBatch, kTransformerLength, kTransformerSymbols); }

torch::Tensor transformer_tokens() { return behind_beginnings(transformer_targets()); }

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
    expect_golden_logits(logits[1][-1], variant.at("logits_row_1_last"));
    expect_golden_logits(logits[2][4], variant.at("logits_row_2_token_4"));
    const torch::Tensor loss = transformer_loss(*model);
    EXPECT_NEAR(loss.item<double>(), variant.at("loss").get<double>(), 1e-11);
    loss.backward();
    expect_golden_gradients(*model, variant.at("gradient_norms"));
  }
}

TEST(Transformer, InSinglePrecisionTheLossIsTheSameToSixDigits) {
  for (const Json& variant : transformer_variants()) {
    const auto model = golden_transformer(golden_options(variant));
    model->to(torch::kFloat);
    EXPECT_NEAR(transformer_loss(*model).item<double>(), variant.at("loss").get<double>(), 1e-5);
  }
}

TEST(Transformer, TenUpdatesEqualGoldenNumbers) {
  for (const Json& variant : transformer_variants()) {
    expect_ten_golden_updates(*golden_transformer(golden_options(variant)), variant.at("trained"), transformer_loss);
  }
}

TEST(Transformer, ReadingBeyondItsContextBeginsAgainWithTheLaterHalf) {
  const auto model = golden_transformer(golden_options(transformer_variants().at(3)));
  model->eval();
  const torch::NoGradGuard no_grad;
  const torch::Tensor text = transformer_targets()[0];
  const auto reader = capability<ReadsIncrementally>(*model)->reader({.context = 8});
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

TEST(Transformer, EpsilonIsThatOfTheConfiguration) {
  TransformerOptions options = golden_options(transformer_variants().at(2));
  EXPECT_EQ(options.llama_config().value().at("rms_norm_eps"), 1e-5);
  options.block.norm_epsilon = 1e-6;
  EXPECT_EQ(options.llama_config().value().at("rms_norm_eps"), 1e-6);
}

TEST(Transformer, ALlamaOfAnotherProgramMustComputeTheSame) {
  const TransformerOptions options = golden_options(transformer_variants().at(2));
  const Json config = options.llama_config().value();
  EXPECT_NO_THROW(options.check_foreign(config, "x"));
  const auto message_of = [&](const char* key, const Json& value) {
    Json other = config;
    other[key] = value;
    return thrown_message<DataError>([&] { options.check_foreign(other, "x"); });
  };
  EXPECT_EQ(message_of("hidden_act", "gelu"), "x: 'hidden_act' is \"gelu\", and this run's model has \"silu\"");
  EXPECT_EQ(message_of("num_key_value_heads", 1), "x: 'num_key_value_heads' is 1, and this run's model has 2");
  EXPECT_EQ(message_of("rms_norm_eps", 1e-6), "x: 'rms_norm_eps' is 1e-06, and this run's model has 1e-05");
  EXPECT_EQ(message_of("rope_parameters", {{"rope_theta", 500000.0}}),
            "x: 'rope_theta' is 500000.0, and this run's model has 10000.0");
  EXPECT_EQ(message_of("rope_parameters", {{"rope_type", "llama3"}, {"rope_theta", 10000.0}}),
            "x: its rope_type is \"llama3\"; only \"default\" is supported");
  EXPECT_EQ(message_of("attention_bias", true), "x: 'attention_bias' is true, and this run's model has false");
  const int layers = config.at("num_hidden_layers");
  EXPECT_EQ(message_of("num_hidden_layers", layers + 1),
            fmt::format("x: 'num_hidden_layers' is {}, and this run's model has {}", layers + 1, layers));
  for (const char* size : {"hidden_size", "intermediate_size", "head_dim"}) {
    EXPECT_THAT(message_of(size, 1000), ::testing::HasSubstr(fmt::format("'{}' is 1000", size)));
  }
  EXPECT_EQ(message_of("partial_rotary_factor", 0.5), "x: its partial_rotary_factor is 0.5; only 1 is supported");
  EXPECT_EQ(message_of("quantization_config", {{"quant_method", "gptq"}}),
            "x: it has 'quantization_config', and such models are not supported");
  EXPECT_EQ(message_of("auto_map", {{"AutoModelForCausalLM", "own.Model"}}),
            "x: it has 'auto_map', and such models are not supported");

  Json old = config;  // as versions before 5 wrote it
  old.erase("rope_parameters");
  old.erase("head_dim");  // the width over the heads
  old["quantization_config"] = nullptr;
  EXPECT_NO_THROW(options.check_foreign(old, "x"));
  old.erase("rms_norm_eps");
  EXPECT_THROW(options.check_foreign(old, "x"), DataError);

  const TransformerOptions none = golden_options(transformer_variants().at(0));
  EXPECT_THAT(thrown_message<DataError>([&] { none.check_foreign(config, "x"); }),
              ::testing::HasSubstr("x is a Llama's, and this run's model is none"));
}

}  // namespace
}  // namespace xlm
