// Attention that decays with distance, against the formula written out.
#include <cmath>
#include <map>
#include <numbers>

#include <gtest/gtest.h>

#include "core/api/decaying_attention_options.h"
#include "core/models/language_model.h"

namespace xlm {
namespace {

using Decay = DecayingAttentionOptions::Decay;

constexpr std::int64_t kDecayTokens = 11;

DecayingAttentionOptions one_layer(Decay decay) {
  return {.width = 6, .heads = 3, .feed_forward = 5, .layers = 1, .dropout = 0, .reach = 8, .decay = decay};
}

/// The same model in double precision, token by token and head by head.
std::vector<torch::Tensor> written_out(LanguageModel& model, const torch::Tensor& tokens, double reach) {
  std::map<std::string, torch::Tensor> w;
  for (const auto& [name, weight] : model.weights()) w[name] = weight.detach();
  const auto norm = [&](const torch::Tensor& x, const torch::Tensor& scale) {
    return (x - x.mean()) / torch::sqrt(x.var(false) + 1e-5) * scale;
  };
  const torch::Tensor maps =
      w["layers.0.query_key_value.weight"];  // [18, 6]: queries, keys, values of three heads of two
  std::vector<torch::Tensor> embedded;
  std::vector<torch::Tensor> normed;
  for (std::int64_t t = 0; t < tokens.size(0); ++t) {
    embedded.push_back(w["embedding.weight"][tokens[t].item<std::int64_t>()]);
    normed.push_back(norm(embedded.back(), w["layers.0.norm_1.weight"]));
  }
  std::vector<torch::Tensor> logits;
  for (std::size_t t = 0; t < normed.size(); ++t) {
    std::vector<torch::Tensor> heads;
    for (std::int64_t head = 0; head < 3; ++head) {
      const auto part = [&](std::int64_t which, std::size_t at) {
        return torch::mv(maps.narrow(0, which * 6 + head * 2, 2), normed[at]);
      };
      const double half = std::pow(reach, (static_cast<double>(head) + 1) / 3);
      torch::Tensor sum = torch::zeros({2}, torch::kDouble);
      double total = 0;
      for (std::size_t s = 0; s <= t; ++s) {
        const double content = std::exp(part(0, t).dot(part(1, s)).item<double>() / std::numbers::sqrt2);
        const double weight = content * std::exp2(-static_cast<double>(t - s) / half);
        sum += weight * part(2, s);
        total += weight;
      }
      heads.push_back(sum / total);
    }
    torch::Tensor hidden = embedded[t] + torch::mv(w["layers.0.out.weight"], torch::cat(heads));
    const torch::Tensor inner = torch::gelu(
        torch::mv(w["layers.0.inner.weight"], norm(hidden, w["layers.0.norm_2.weight"])) + w["layers.0.inner.bias"]);
    hidden = hidden + torch::mv(w["layers.0.outer.weight"], inner) + w["layers.0.outer.bias"];
    logits.push_back(torch::mv(w["head.weight"], norm(hidden, w["norm.weight"])));
  }
  return logits;
}

TEST(DecayingAttention, IsTheFormula) {
  for (const Decay decay : {Decay::kFixed, Decay::kLearnt}) {
    torch::manual_seed(2);
    const auto model = make_model(one_layer(decay), 7);
    model->to(torch::kDouble);
    model->eval();
    const torch::Tensor tokens = torch::randint(7, {kDecayTokens});
    const torch::Tensor all = model->forward(tokens.unsqueeze(0), {}).logits()[0];
    const std::vector<torch::Tensor> expected = written_out(*model, tokens, 8);
    for (std::int64_t t = 0; t < kDecayTokens; ++t) {
      // Rates are made in single precision.
      EXPECT_TRUE(torch::allclose(all[t], expected[static_cast<std::size_t>(t)], 1e-6, 1e-6)) << t;
    }
  }
}

TEST(DecayingAttention, OnlyLearntRatesAreLearnt) {
  const auto rates = [](Decay decay) {
    const auto model = make_model(one_layer(decay), 7);
    const torch::Tensor tokens = torch::arange(7).unsqueeze(0);
    model->forward(tokens, {}).summed_loss(tokens).backward();
    for (const auto& [name, weight] : model->weights()) {
      if (name.ends_with("log_rate")) return weight.grad().abs().min().item<double>();
    }
    return -1.0;
  };
  EXPECT_EQ(rates(Decay::kFixed), -1);
  EXPECT_GT(rates(Decay::kLearnt), 0);
}

TEST(DecayingAttention, ReportsTheHalfDistanceOfEveryHead) {
  const auto model = make_model(one_layer(Decay::kLearnt), 7);
  const Grid grid = model->grids().front();
  EXPECT_EQ(grid.name, "half_distances");
  ASSERT_EQ(grid.rows.size(), 1U);
  ASSERT_EQ(grid.rows[0].size(), 3U);
  for (std::size_t head = 0; head < 3; ++head) EXPECT_NEAR(grid.rows[0][head], std::exp2(head + 1.0), 1e-5);
  EXPECT_NEAR(model->statistics().at("half_distance"), 14.0 / 3, 1e-5);
}

}  // namespace
}  // namespace xlm
