// The adaptive span against golden numbers (tests/golden/README.md names their source), and its parts by hand.
#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "base/json.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/learning_rate.h"
#include "core/models/language_model.h"
#include "core/runtime/device.h"
#include "core/train/optimizer.h"
#include "tests/core/models/golden_values.h"

namespace xlm {
namespace {

using SpanType = AdaptiveSpanOptions::SpanType;

constexpr std::int64_t kSymbols = 11;
constexpr std::int64_t kBatch = 3;
constexpr std::int64_t kBlock = 16;
constexpr std::int64_t kBlocks = 4;

using Spans = std::vector<std::vector<float>>;
const Spans kSpans{{0.0F, 0.1F, 0.5F, 0.9F}, {0.25F, 0.0F, 1.0F, 0.33F}};  // z' by layer and head
const Spans kTrimmedSpans{{0.0F, 0.1F, 0.25F, 0.02F}, {0.15F, 0.0F, 0.05F, 0.33F}};

AdaptiveSpanOptions golden_options(SpanType type, std::int64_t span = 32) {
  return {.width = 16,
          .heads = 4,
          .feed_forward = 24,
          .layers = 2,
          .dropout = 0,
          .attention_dropout = 0,
          .span = span,
          .span_type = type,
          .span_penalty = 2e-3,
          .span_ramp = 8};
}

/// The weights of the golden numbers: a formula, with the alphabetical place of a name as its index.
void fill_golden(LanguageModel& model, const Spans& spans = kSpans) {
  fill_golden_weights(model, [](const std::string& name) -> GoldenScale {
    if (name.find("norm") != std::string::npos && name.ends_with("weight")) return {.mean = 1, .scale = 0.2};
    if (name.ends_with("dynamic_span.bias")) return {.scale = 1.5};
    if (name.ends_with("expire_span.bias")) return {.mean = -4, .scale = 0.2};
    if (name.ends_with("expire_span.weight")) return {.scale = 0.5};
    return {.scale = name == "in_emb.weight" || name == "key_pe" ? 1.0 : 0.3};
  });
  const torch::NoGradGuard no_grad;
  for (const auto& [name, weight] : model.weights()) {
    if (!name.ends_with("current_val")) continue;
    weight.copy_(torch::tensor(spans.at(static_cast<std::size_t>(name.at(7) - '0'))).view(weight.sizes()));
  }
  model.to(torch::kDouble);  // Adagrad's first steps divide a gradient by itself, which magnifies the rounding of
                             // single precision
  model.after_step();
}

torch::Tensor golden_tokens() {
  return (golden_sequence(kBatch * (kBlocks * kBlock + 1), 12345) % kSymbols).view({kBatch, -1});
}

std::string name_of_type(SpanType type) {
  return std::string(AdaptiveSpanOptions::kSpanTypeNames.at(static_cast<std::size_t>(type)));
}

Json golden(const std::string& name) {
  return read_json(fs::path(XLM_SOURCE_DIR) / "tests/golden/adaptive_span.json").at(name);
}

torch::Tensor block_loss(const ModelOutput& output, const torch::Tensor& tokens, std::int64_t block) {
  return torch::cross_entropy_loss(output.logits().flatten(0, 1),
                                   tokens.narrow(1, block * kBlock + 1, kBlock).flatten());
}

/// The kind of the golden numbers: that of the spans, or fixed spans by layer.
class AdaptiveSpanGolden : public testing::TestWithParam<std::string> {
 protected:
  static AdaptiveSpanOptions options() {
    for (const SpanType type : {SpanType::kAdaptive, SpanType::kDynamic, SpanType::kExpire}) {
      if (name_of_type(type) == GetParam()) return golden_options(type);
    }
    AdaptiveSpanOptions fixed = golden_options(SpanType::kFixed);
    if (GetParam() == "windows") fixed.windows = {5, 0};
    return fixed;
  }
};

TEST_P(AdaptiveSpanGolden, LossesOverBlocksWithCachesEqualThePublishedOnes) {
  const auto model = make_model(options(), kSymbols);
  fill_golden(*model);
  model->eval();
  const torch::NoGradGuard no_grad;
  const torch::Tensor tokens = golden_tokens();
  State state = model->initial_state(kBatch);
  for (std::int64_t block = 0; block < kBlocks; ++block) {
    ModelOutput output = model->forward(tokens.narrow(1, block * kBlock, kBlock), state);
    const double expected = golden(GetParam()).at("block_losses").at(static_cast<std::size_t>(block)).get<double>();
    EXPECT_NEAR(block_loss(output, tokens, block).item<double>(), expected, 1e-9 * expected) << "block " << block;
    state = output.state;
  }
}

TEST_P(AdaptiveSpanGolden, GradientsAndTwelveUpdatesEqualThePublishedOnes) {
  const auto model = make_model(options(), kSymbols);
  fill_golden(*model);
  model->train();
  const Json expected = golden(GetParam());
  const OptimizerOptions adagrad{
      .type = OptimizerOptions::Type::kAdagrad, .lr = 0.07, .warmup_steps = 8, .clip_step = 0.03};
  Optimizer optimizer(adagrad, model->weights());
  const torch::Tensor tokens = golden_tokens();
  State state;
  for (std::int64_t step = 0; step < 12; ++step) {
    const std::int64_t block = step % kBlocks;
    if (block == 0) state = model->initial_state(kBatch);
    optimizer.zero_gradients();
    ModelOutput output = model->forward(tokens.narrow(1, block * kBlock, kBlock), state);
    torch::Tensor loss = block_loss(output, tokens, block);
    const double wanted = expected.at("training_losses").at(static_cast<std::size_t>(step)).get<double>();
    EXPECT_NEAR(loss.item<double>(), wanted, 1e-8) << "step " << step;
    if (output.auxiliary_loss.defined()) loss = loss + output.auxiliary_loss;
    loss.backward();
    if (step == 3) expect_golden_gradients(*model, expected.at("gradient_norms"));
    optimizer.step(learning_rate(adagrad, step + 1, 12), step + 1);
    model->after_step();
    state = output.state;
  }
}

INSTANTIATE_TEST_SUITE_P(SpanTypes, AdaptiveSpanGolden,
                         testing::Values("fixed", "adaptive", "dynamic", "expire", "windows"),
                         [](const auto& instance) { return instance.param; });

TEST(AdaptiveSpan, TrimmedBandsGiveTheLossesOfTheWholeSpan) {
  for (const SpanType type : {SpanType::kAdaptive, SpanType::kDynamic, SpanType::kExpire}) {
    const auto model = make_model(golden_options(type, 160), kSymbols);
    fill_golden(*model, kTrimmedSpans);
    model->eval();
    const torch::NoGradGuard no_grad;
    const torch::Tensor tokens = golden_tokens();
    State state = model->initial_state(kBatch);
    for (std::int64_t block = 0; block < kBlocks; ++block) {
      ModelOutput output = model->forward(tokens.narrow(1, block * kBlock, kBlock), state);
      const double expected =
          golden(name_of_type(type) + "_trimmed").at("block_losses").at(static_cast<std::size_t>(block)).get<double>();
      // The softmax of a trimmed band sums to more, so that the 1e-8 of the renormalisation weighs less. Memories that
      // have expired take no part at all.
      const double tolerance = type == SpanType::kExpire ? 1e-9 : 1e-6;
      EXPECT_NEAR(block_loss(output, tokens, block).item<double>(), expected, tolerance) << "block " << block;
      state = output.state;
    }
  }
}

torch::Tensor span_of(LanguageModel& model, const std::string& layer) {
  const std::map<std::string, torch::Tensor> weights(model.weights().begin(), model.weights().end());
  return weights.at("layers." + layer + ".attn.attn.adaptive_span._mask.current_val");
}

TEST(AdaptiveSpan, SpansAreClampedAfterAnUpdate) {
  const auto model = make_model(golden_options(SpanType::kAdaptive, 48), kSymbols);
  const torch::NoGradGuard no_grad;
  torch::Tensor span = span_of(*model, "0");
  span.copy_(torch::tensor({-0.5F, 0.25F, 1.5F, 1.0F}).view({4, 1, 1}));
  model->after_step();
  EXPECT_TRUE(torch::equal(span.flatten(), torch::tensor({0.0F, 0.25F, 1.0F, 1.0F})));
}

TEST(AdaptiveSpan, ThePenaltyIsTheMeanSpanOfEveryLayerTimesLambda) {
  const auto model = make_model(golden_options(SpanType::kAdaptive, 48), kSymbols);
  {
    const torch::NoGradGuard no_grad;
    span_of(*model, "0").copy_(torch::tensor({0.0F, 0.5F, 0.5F, 1.0F}).view({4, 1, 1}));
    model->after_step();
  }
  const ModelOutput output = model->forward(golden_tokens().narrow(1, 0, kBlock), model->initial_state(kBatch));
  EXPECT_NEAR(output.auxiliary_loss.item<double>(), 2e-3 * (24 + 0), 1e-8);  // layer 0: mean z = 48 · 0.5; layer 1: 0
  output.auxiliary_loss.backward();
  EXPECT_NEAR(span_of(*model, "0").grad()[0].item<double>(), 2e-3 * 48 / 4, 1e-8);  // λ S / H
}

TEST(AdaptiveSpan, ReportsTheSpansAsPublished) {
  const auto model = make_model(golden_options(SpanType::kAdaptive, 48), kSymbols);
  const torch::NoGradGuard no_grad;
  span_of(*model, "0").copy_(torch::tensor({0.0F, 0.1F, 0.5F, 0.9F}).view({4, 1, 1}));
  model->after_step();
  // Layer 0: z = 0, 4.8, 24, 43.2, mean 18 (a little more in single precision) → 19 + 8 or 18 + 8; layer 1: 0 + 8.
  const double mean =
      48 * (0.0 + static_cast<double>(0.1F) + static_cast<double>(0.5F) + static_cast<double>(0.9F)) / 4;
  EXPECT_DOUBLE_EQ(model->statistics().at("average_span"), (std::ceil(mean) + 8 + 8) / 2);
  EXPECT_DOUBLE_EQ(model->statistics().at("max_span"), 48);  // min(S, 44 + 8)
  const Grid grid = model->grids().front();
  EXPECT_EQ(grid.rows.front(), (std::vector<double>{8, 13, 32, 48}));
}

/// The mean of the values of a text's tokens equals the mean of the grid, up to the grid's rounding, ⌈mean z⌉.
TEST(AdaptiveSpan, DynamicSpansOfSingleTokensAverageToThoseOfTheHeads) {
  const auto model = make_model(golden_options(SpanType::kDynamic, 160), kSymbols);
  fill_golden(*model);
  model->eval();
  const torch::NoGradGuard no_grad;
  ModelInput input{.tokens = golden_tokens().narrow(1, 0, kBlock), .positions = {}, .boundaries = {}, .traced = true};
  const ModelOutput output = model->forward(input, model->initial_state(kBatch));
  const torch::Tensor spans = output.token_values.at("span");
  EXPECT_EQ(spans.sizes(), input.tokens.sizes());
  EXPECT_GT((spans.max() - spans.min()).item<double>(), 1) << "they follow the text";
  double mean = 0;
  const std::vector<Grid> grids = model->grids();
  for (const std::vector<double>& row : grids.front().rows) {
    for (const double span : row) mean += span / 8;
  }
  EXPECT_NEAR(spans.mean().item<double>(), mean, 1);
  input.traced = false;
  EXPECT_TRUE(torch::equal(model->forward(input, model->initial_state(kBatch)).logits(), output.logits()));
  EXPECT_TRUE(model->forward(input, model->initial_state(kBatch)).token_values.empty());
}

class PredictedSpans : public testing::TestWithParam<SpanType> {};

/// bfloat16's eight bits are too few for a span of thousands. The first layer's input, the embedding, is the same in
/// both precisions, so its spans must be the same.
TEST_P(PredictedSpans, AreComputedInSinglePrecisionUnderBfloat) {
  AdaptiveSpanOptions options = golden_options(GetParam(), 4096);
  options.layers = 1;
  options.heads = 1;
  const auto model = make_model(options, kSymbols);
  const torch::NoGradGuard no_grad;
  for (const auto& [name, weight] : model->weights()) {
    if (name.find("_span.") != std::string::npos) torch::Tensor(weight).copy_(golden_values(1, weight.sizes(), 0.3));
  }
  model->eval();
  const ModelInput input{
      .tokens = golden_tokens().narrow(1, 0, kBlock), .positions = {}, .boundaries = {}, .traced = true};
  const auto spans = [&](Precision precision) {
    const PrecisionScope scope(precision, torch::kCPU);
    return model->forward(input, model->initial_state(kBatch)).token_values.at("span");
  };
  const torch::Tensor single = spans(Precision::kFloat32);
  EXPECT_GT(single.max().item<double>(), 1000);
  const torch::Tensor mixed = spans(Precision::kBfloat16);
  EXPECT_TRUE(torch::equal(mixed, single)) << (mixed - single).abs().max();
}

INSTANTIATE_TEST_SUITE_P(SpanTypes, PredictedSpans, testing::Values(SpanType::kDynamic, SpanType::kExpire),
                         [](const auto& instance) { return name_of_type(instance.param); });

TEST(SpanCache, OfAnotherPrecisionIsReadInTheTypeOfProducts) {
  const auto model = make_model(golden_options(SpanType::kFixed), kSymbols);
  const torch::NoGradGuard no_grad;
  const PrecisionScope scope(Precision::kBfloat16, torch::kCPU);
  const torch::Tensor block = golden_tokens().narrow(1, 0, kBlock);
  const State kept = model->forward(block, model->initial_state(kBatch)).state;
  State wide;
  for (const torch::Tensor& cache : kept) wide.push_back(cache.to(torch::kFloat));
  EXPECT_TRUE(torch::equal(model->forward(block, wide).hidden, model->forward(block, kept).hidden));
}

/// m_z(x) of Sukhbaatar et al. 2019, §2.2, with x − 1 in the place of x
/// (experiments/recipes/adaptive-span/README.md#the-soft-mask).
double soft_mask_by_hand(double span, double ramp, double distance) {
  return std::min(std::max((ramp + span - (distance - 1)) / ramp, 0.0), 1.0);
}

/// The attention weights of one head of the only layer for one query, distance 1 first: equations 1 and 2, then the
/// soft mask with its renormalisation. `z` < 0: no mask.
std::vector<double> weights_by_hand(const std::map<std::string, torch::Tensor>& weights, const AdaptiveSpanOptions& o,
                                    const torch::Tensor& text, std::int64_t query, std::int64_t head, double z) {
  const std::int64_t d = o.width / o.heads;
  const auto of_head = [&](const char* name) {  // [d, D]
    return weights.at(std::string("layers.0.attn.") + name + ".weight").narrow(0, head * d, d);
  };
  const torch::Tensor embedding = weights.at("in_emb.weight");
  const torch::Tensor q = of_head("proj_query").mv(embedding[text[query].item<std::int64_t>()]);
  std::vector<double> result;
  double sum = 0;
  for (std::int64_t x = 1; x <= o.span; ++x) {
    torch::Tensor key = weights.at("key_pe")[0].select(1, o.span - x);
    if (query >= x) key = key + of_head("proj_key").mv(embedding[text[query - x].item<std::int64_t>()]);
    result.push_back(std::exp(q.dot(key).item<double>() / std::sqrt(static_cast<double>(d))));
    sum += result.back();
  }
  for (double& weight : result) weight /= sum;
  if (z < 0) return result;
  double left = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] *= soft_mask_by_hand(z, static_cast<double>(o.span_ramp), static_cast<double>(i + 1));
    left += result[i];
  }
  for (double& weight : result) weight /= left + 1e-8;
  return result;
}

/// The attention of heads in the second block of a text: the model's values against equations 1 and 2.
TEST(AdaptiveSpan, AttentionOfHeadsIsThatOfTheEquationsAndTheMaskThatOfSection22) {
  for (const SpanType type : {SpanType::kFixed, SpanType::kAdaptive}) {
    AdaptiveSpanOptions options = golden_options(type, 20);
    options.layers = 1;
    options.span_ramp = 6;
    const auto model = make_model(options, kSymbols);
    fill_golden(*model);
    model->eval();
    const torch::NoGradGuard no_grad;
    const torch::Tensor text = golden_tokens()[0].narrow(0, 0, 2 * kBlock);
    ModelInput input{.tokens = text.narrow(0, 0, kBlock).unsqueeze(0)};
    const ModelOutput first = model->forward(input, model->initial_state(1));
    EXPECT_TRUE(first.head_values.empty());
    input.tokens = text.narrow(0, kBlock, kBlock).unsqueeze(0);
    const ModelOutput plain = model->forward(input, first.state);
    input.heads_traced = true;
    const ModelOutput output = model->forward(input, first.state);
    EXPECT_TRUE(torch::equal(output.logits(), plain.logits()));
    EXPECT_EQ(output.head_values.contains("mask"), type == SpanType::kAdaptive);
    const torch::Tensor attention = output.head_values.at("attention");
    ASSERT_EQ(attention.sizes(), (torch::IntArrayRef{4, 20}));
    const std::map<std::string, torch::Tensor> weights(model->weights().begin(), model->weights().end());
    for (std::int64_t head = 0; head < 4; ++head) {
      const double z = type == SpanType::kFixed ? -1 : 20.0 * static_cast<double>(kSpans[0][static_cast<size_t>(head)]);
      std::vector<double> mean(20);
      for (std::int64_t query = kBlock; query < 2 * kBlock; ++query) {
        const std::vector<double> of_query = weights_by_hand(weights, options, text, query, head, z);
        for (std::size_t x = 0; x < mean.size(); ++x) mean[x] += of_query[x] / static_cast<double>(kBlock);
      }
      EXPECT_NEAR(attention[head].sum().item<double>(), 1, z < 0 ? 1e-12 : 1e-5) << "the renormalisation adds 1e-8";
      for (std::int64_t x = 0; x < 20; ++x) {
        EXPECT_NEAR(attention[head][x].item<double>(), mean[static_cast<std::size_t>(x)], 1e-12) << head << " " << x;
        if (z < 0) continue;
        EXPECT_NEAR(output.head_values.at("mask")[head][x].item<double>(),
                    soft_mask_by_hand(z, 6, static_cast<double>(x + 1)), 1e-12)
            << head << " " << x;
      }
    }
  }
}

TEST(AdaptiveSpan, HeadsOfEveryLayerAndOfTrimmedBandsHaveTheirRows) {
  for (const SpanType type : {SpanType::kAdaptive, SpanType::kDynamic}) {
    const auto model = make_model(golden_options(type, 160), kSymbols);
    fill_golden(*model, kTrimmedSpans);
    model->eval();
    const torch::NoGradGuard no_grad;
    const ModelInput input{.tokens = golden_tokens().narrow(1, 0, kBlock), .heads_traced = true};
    const ModelOutput output = model->forward(input, model->initial_state(kBatch));
    const torch::Tensor attention = output.head_values.at("attention");
    const torch::Tensor mask = output.head_values.at("mask");
    ASSERT_EQ(attention.sizes(), (torch::IntArrayRef{8, 160}));
    EXPECT_LT((attention.sum(1) - 1).abs().max().item<double>(), 1e-4);
    if (type == SpanType::kDynamic) continue;
    const std::vector<std::vector<double>> spans = model->grids().front().rows;
    for (std::int64_t row = 0; row < 8; ++row) {
      const double span = spans.at(static_cast<std::size_t>(row / 4)).at(static_cast<std::size_t>(row % 4));
      const auto reached = static_cast<std::int64_t>(span);
      EXPECT_GT(mask[row][reached - 1].item<double>(), 0) << row;
      ASSERT_LT(reached + 1, 160);
      EXPECT_EQ(mask[row].narrow(0, reached + 1, 160 - reached - 1).max().item<double>(), 0) << row;
    }
  }
}

TEST(AdaptiveSpan, CostFollowsThePapersFormula) {
  AdaptiveSpanOptions small{.span = 8192};
  const auto model = make_model(small, 27);
  const torch::NoGradGuard no_grad;
  for (const auto& [name, weight] : model->weights()) {
    if (name.ends_with("current_val")) weight.fill_((314.0 - 32.0) / 8192.0);
  }
  model->after_step();
  EXPECT_NEAR(model->costs(512).at("paper_flops"), 42e6, 0.5e6);  // Table 1: 42M at an average span of 314
  EXPECT_NEAR(model->costs(512).at("params"), 38e6, 0.5e6);       // Table 1: 38M
}

TEST(AdaptiveSpan, WindowsAreRepeatedOverTheLayersAndCostWhatTheySee) {
  AdaptiveSpanOptions options = golden_options(SpanType::kFixed, 48);
  options.layers = 5;
  options.windows = {8, 20, 0};
  const auto model = make_model(options, kSymbols);
  const std::vector<double> spans{8, 20, 48, 8, 20};
  const Grid grid = model->grids().front();
  ASSERT_EQ(grid.rows.size(), 5U);
  for (std::size_t i = 0; i < spans.size(); ++i) EXPECT_EQ(grid.rows[i], std::vector<double>(4, spans[i]));
  EXPECT_NEAR(model->statistics().at("average_span"), 104.0 / 5, 1e-12);
  EXPECT_EQ(model->statistics().at("max_span"), 48);
  // A layer of width 16: four matrices, a feed-forward of 24, and scores of keys, of places, and values, for each
  // position that is seen.
  const double expected = 5 * (4 * 16 * 16 + 2 * 16 * 24) + 3 * 16 * 104 + 16 * 11;
  EXPECT_DOUBLE_EQ(model->costs(16).at("flops_per_token"), 2 * expected);
}

/// The cache of a layer, and with it what is projected to keys and values, is as long as its window.
TEST(AdaptiveSpan, ALayerKeepsNoMoreThanItsWindow) {
  AdaptiveSpanOptions options = golden_options(SpanType::kFixed, 48);
  options.windows = {8, 0};
  const auto model = make_model(options, kSymbols);
  const torch::NoGradGuard no_grad;
  State state = model->initial_state(kBatch);
  for (std::int64_t block = 0; block < 4; ++block) {
    state = model->forward(golden_tokens().narrow(1, block * kBlock, kBlock), state).state;
  }
  EXPECT_EQ(state.at(0).sizes(), (torch::IntArrayRef{kBatch, 8, 16}));
  EXPECT_EQ(state.at(1).sizes(), (torch::IntArrayRef{kBatch, 48, 16}));
}

TEST(AdaptiveSpan, WindowsThatMeanNothingAreRefused) {
  const auto problem = [](SpanType type, std::vector<std::int64_t> windows, std::int64_t span) {
    AdaptiveSpanOptions options = golden_options(type, span);
    options.windows = std::move(windows);
    const auto found = options.problem();
    return found ? found->second : "";
  };
  EXPECT_EQ(problem(SpanType::kFixed, {8, 32}, 32), "");
  EXPECT_EQ(problem(SpanType::kFixed, {8, 0}, 32), "");
  EXPECT_EQ(problem(SpanType::kFixed, {32}, 32), "");
  EXPECT_EQ(problem(SpanType::kAdaptive, {0}, 32), "");
  EXPECT_NE(problem(SpanType::kAdaptive, {8, 0}, 32).find("span_type=fixed"), std::string::npos);
  EXPECT_NE(problem(SpanType::kDynamic, {8}, 32).find("span_type=fixed"), std::string::npos);
  EXPECT_NE(problem(SpanType::kExpire, {8}, 32).find("span_type=fixed"), std::string::npos);
  EXPECT_NE(problem(SpanType::kFixed, {}, 32).find("empty"), std::string::npos);
  EXPECT_NE(problem(SpanType::kFixed, {8, 64}, 32).find("set model.span=64"), std::string::npos);
  EXPECT_NE(problem(SpanType::kFixed, {8, 4}, 32).find("set model.span=8"), std::string::npos);
  // Of three windows, the two layers have the first two.
  EXPECT_NE(problem(SpanType::kFixed, {8, 16, 32}, 32).find("set model.span=16"), std::string::npos);
}

}  // namespace
}  // namespace xlm
