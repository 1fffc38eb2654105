// The adaptive span's model with memories that expire: what it forgets, what it carries on, what it reports. Golden
// numbers are in adaptive_span_test.cpp.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "core/api/adaptive_span_options.h"
#include "core/models/language_model.h"
#include "tests/core/models/golden_values.h"

namespace xlm {
namespace {

constexpr std::int64_t kExpiringSymbols = 11;
constexpr std::int64_t kExpiringRows = 3;

AdaptiveSpanOptions expiring_options(std::int64_t layers) {
  return {.width = 16,
          .heads = 4,
          .feed_forward = 24,
          .layers = layers,
          .dropout = 0,
          .attention_dropout = 0,
          .span = 32,
          .span_type = AdaptiveSpanOptions::SpanType::kExpire,
          .span_penalty = 2e-3,
          .span_ramp = 8};
}

/// Spans that differ from token to token, most of them short.
std::shared_ptr<LanguageModel> expiring_model(std::int64_t layers, torch::ScalarType type = torch::kDouble) {
  auto model = make_model(expiring_options(layers), kExpiringSymbols);
  fill_golden_weights(*model, [](const std::string& name) -> GoldenScale {
    if (name.find("norm") != std::string::npos && name.ends_with("weight")) return {.mean = 1, .scale = 0.2};
    if (name.ends_with("expire_span.bias")) return {.mean = -4, .scale = 0.2};
    if (name.ends_with("expire_span.weight")) return {.scale = 0.5};
    return {.scale = name == "in_emb.weight" || name == "key_pe" ? 1.0 : 0.3};
  });
  model->to(type);
  model->eval();
  return model;
}

torch::Tensor memory_weight(const LanguageModel& model, const std::string& name) {
  const std::map<std::string, torch::Tensor> weights(model.weights().begin(), model.weights().end());
  return weights.at(name);
}

/// e of every token in a model of one layer: [B, T].
torch::Tensor spans_of_tokens(const LanguageModel& model, const torch::Tensor& tokens) {
  const torch::Tensor embedded = torch::embedding(memory_weight(model, "in_emb.weight"), tokens);
  const torch::Tensor gate = torch::matmul(embedded, memory_weight(model, "layers.0.attn.attn.expire_span.weight")[0]) +
                             memory_weight(model, "layers.0.attn.attn.expire_span.bias");
  return 32 * torch::sigmoid(gate);
}

torch::Tensor memory_text(std::int64_t length) { return golden_text(kExpiringRows, length, kExpiringSymbols); }

torch::Tensor with_another_token(const torch::Tensor& tokens, std::int64_t place) {
  torch::Tensor changed = tokens.clone();
  changed.narrow(1, place, 1) = (changed.narrow(1, place, 1) + 1) % kExpiringSymbols;
  return changed;
}

/// To the bit, in a block with a past: what lives in the cache sets the sizes, and no token of the block does.
TEST(ExpiringMemories, ALaterTokenChangesNoBitOfEarlierLogits) {
  for (const auto type : {torch::kDouble, torch::kFloat}) {
    const auto model = expiring_model(2, type);
    const torch::NoGradGuard no_grad;
    const torch::Tensor tokens = memory_text(48);
    const State state = model->forward(tokens.narrow(1, 0, 24), model->initial_state(kExpiringRows)).state;
    const torch::Tensor block = tokens.narrow(1, 24, 24);
    const torch::Tensor before = model->forward(block, state).logits();
    for (std::int64_t t = 0; t < 24; ++t) {
      const torch::Tensor after = model->forward(with_another_token(block, t), state).logits();
      EXPECT_TRUE(torch::equal(before.narrow(1, 0, t), after.narrow(1, 0, t))) << "token " << t;
      EXPECT_FALSE(torch::equal(before.narrow(1, t, 1), after.narrow(1, t, 1))) << "token " << t;
    }
  }
}

TEST(ExpiringMemories, SegmentsOfAnyLengthEqualOneLongSegment) {
  const auto model = expiring_model(2);
  const torch::NoGradGuard no_grad;
  const torch::Tensor tokens = memory_text(80);
  const torch::Tensor whole = model->forward(tokens, model->initial_state(kExpiringRows)).logits();
  const std::vector<std::vector<std::int64_t>> cuts{{16, 16, 16, 16, 16}, {7, 1, 40, 32}, {79, 1}};
  for (const std::vector<std::int64_t>& lengths : cuts) {
    State state = model->initial_state(kExpiringRows);
    std::vector<torch::Tensor> parts;
    std::int64_t begin = 0;
    for (const std::int64_t length : lengths) {
      ModelOutput output = model->forward(tokens.narrow(1, begin, length), state);
      parts.push_back(output.logits());
      state = output.state;
      begin += length;
      for (const torch::Tensor& cache : state) EXPECT_EQ(cache.size(1), std::min<std::int64_t>(begin, 32));
    }
    ASSERT_EQ(begin, 80);
    EXPECT_LT((torch::cat(parts, 1) - whole).abs().max().item<double>(), 1e-12) << lengths.size() << " segments";
  }
}

/// With e = 0 and R = 8 a memory has gone at the age of 8.
TEST(ExpiringMemories, AnExpiredOneHasNoInfluence) {
  const auto model = expiring_model(1);
  const torch::NoGradGuard no_grad;
  memory_weight(*model, "layers.0.attn.attn.expire_span.weight").zero_();
  memory_weight(*model, "layers.0.attn.attn.expire_span.bias").fill_(-100);
  const torch::Tensor tokens = memory_text(30);
  const auto logits_behind = [&](const torch::Tensor& text) {  // of the tokens from 20 on, as a second block
    const State state = model->forward(text.narrow(1, 0, 20), model->initial_state(kExpiringRows)).state;
    return model->forward(text.narrow(1, 20, 10), state).logits();
  };
  const torch::Tensor before = logits_behind(tokens);
  for (std::int64_t place = 8; place < 20; ++place) {
    const torch::Tensor after = logits_behind(with_another_token(tokens, place));
    for (std::int64_t query = 20; query < 30; ++query) {
      EXPECT_EQ(torch::equal(before.select(1, query - 20), after.select(1, query - 20)), query - place >= 8)
          << "token " << place << " at token " << query;
    }
  }
}

TEST(ExpiringMemories, AreForgottenOnlyInRowsWhereTheyExpire) {
  const auto model = expiring_model(2);
  const torch::NoGradGuard no_grad;
  const torch::Tensor tokens = memory_text(48);
  const auto in_two_blocks = [&](const torch::Tensor& text) {
    const State state = model->forward(text.narrow(1, 0, 24), model->initial_state(text.size(0))).state;
    return model->forward(text.narrow(1, 24, 24), state).logits();
  };
  const torch::Tensor together = in_two_blocks(tokens);
  for (std::int64_t row = 0; row < kExpiringRows; ++row) {
    const torch::Tensor alone = in_two_blocks(tokens.narrow(0, row, 1));
    EXPECT_LT((together.narrow(0, row, 1) - alone).abs().max().item<double>(), 1e-12) << row;
  }
}

TEST(ExpiringMemories, ThePenaltyIsTheMeanSpanOfTheBlocksOwnTokens) {
  const auto model = expiring_model(1);
  const torch::Tensor tokens = memory_text(40);
  const State state = model->forward(tokens.narrow(1, 0, 20), model->initial_state(kExpiringRows)).state;
  const ModelOutput output = model->forward(tokens.narrow(1, 20, 20), state);
  const torch::Tensor expected = 2e-3 * spans_of_tokens(*model, tokens.narrow(1, 20, 20)).mean();
  EXPECT_NEAR(output.auxiliary_loss.item<double>(), expected.item<double>(), 1e-14);
  output.auxiliary_loss.backward();
  const torch::Tensor bias = memory_weight(*model, "layers.0.attn.attn.expire_span.bias");
  const torch::Tensor by_hand = torch::autograd::grad({expected}, {bias}).front();
  EXPECT_NEAR(bias.grad().item<double>(), by_hand.item<double>(), 1e-14);
}

TEST(ExpiringMemories, ReportTheirSpansAndWhatTheyCost) {
  const auto model = expiring_model(1);
  const torch::NoGradGuard no_grad;
  const torch::Tensor tokens = memory_text(40);
  model->reset_statistics();
  const ModelOutput output =
      model->forward(ModelInput{.tokens = tokens, .positions = {}, .boundaries = {}, .traced = true},
                     model->initial_state(kExpiringRows));
  const torch::Tensor spans = spans_of_tokens(*model, tokens);
  const torch::Tensor seen = (spans.ceil() + 8).clamp_max(32);
  EXPECT_TRUE(torch::equal(output.token_values.at("span"), seen));
  EXPECT_GT((seen.max() - seen.min()).item<double>(), 5) << "they follow the text";
  const double average = std::min(32.0, std::ceil(spans.mean().item<double>()) + 8);
  EXPECT_DOUBLE_EQ(model->statistics().at("average_span"), average);
  EXPECT_DOUBLE_EQ(model->statistics().at("max_span"), seen.max().item<double>());
  EXPECT_EQ(model->grids().front().rows.front(), std::vector<double>(4, average)) << "all heads share the memories";
  // Four matrices, the feed-forward, the spans, two scores and the sum of values for each position, the logits.
  const double expected = 4 * 16 * 16 + 2 * 16 * 24 + 16 + 3 * 16 * average + 16 * 11;
  EXPECT_DOUBLE_EQ(model->costs(40).at("flops_per_token"), 2 * expected);
}

TEST(ExpiringMemories, HaveAttentionAndAMaskOfEveryHead) {
  const auto model = expiring_model(1);
  const torch::NoGradGuard no_grad;
  const torch::Tensor tokens = memory_text(40);
  const State state = model->forward(tokens.narrow(1, 0, 32), model->initial_state(kExpiringRows)).state;
  const ModelInput input{.tokens = tokens.narrow(1, 32, 8), .heads_traced = true};
  const ModelOutput output = model->forward(input, state);
  const torch::Tensor attention = output.head_values.at("attention");
  const torch::Tensor mask = output.head_values.at("mask");
  ASSERT_EQ(attention.sizes(), (torch::IntArrayRef{4, 32}));
  EXPECT_LT((attention.sum(1) - 1).abs().max().item<double>(), 1e-12) << "the token before is always there";
  const torch::Tensor spans = spans_of_tokens(*model, tokens);
  for (std::int64_t x = 1; x <= 32; ++x) {
    const torch::Tensor of_age = spans.narrow(1, 32 - x, 8);  // the memories of this age for each query
    const torch::Tensor factors = ((of_age - static_cast<double>(x)) / 8 + 1).clamp(0, 1);
    for (std::int64_t head = 0; head < 4; ++head) {
      EXPECT_NEAR(mask[head][x - 1].item<double>(), factors.mean().item<double>(), 1e-12) << head << " " << x;
    }
  }
}

}  // namespace
}  // namespace xlm
