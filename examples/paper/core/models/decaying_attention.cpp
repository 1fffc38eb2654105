// A transformer without positions. Its attention decays exponentially with distance: n tokens back, head h multiplies
// the weight of a token's content by 2^(−n / d_h). The half-distances d_h are fixed or learnt.
//
// B batch, T tokens, P scored tokens, H heads, D width, d = D / H, F feed-forward units, V symbols.
#include <cmath>
#include <limits>
#include <numbers>

#include "core/api/decaying_attention_options.h"
#include "core/kernels/dropout.h"
#include "core/kernels/linear.h"
#include "core/models/language_model.h"

namespace xlm {
namespace {

using torch::Tensor;

struct DecayingLayer {
  Tensor norm_1, norm_2;                        // [D]
  Tensor query_key_value, out;                  // [3D, D], [D, D]
  Tensor inner, inner_bias, outer, outer_bias;  // [F, D], [F], [D, F], [D]
  Tensor log_rate;                              // ln of the decay per token, in nats [H]
};

class DecayingAttention final : public LanguageModel {
 public:
  DecayingAttention(const DecayingAttentionOptions& options, std::int64_t symbols);

  ModelOutput forward(const ModelInput& input, const State& state) override;
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  TextScheme scheme() const override { return DecayingAttentionOptions::kScheme; }
  NamedValues costs(std::int64_t block) const override;
  NamedValues statistics() const override;
  std::vector<Grid> grids() const override;

 private:
  void declare_layer(std::int64_t index);
  Tensor attention(const DecayingLayer& layer, const Tensor& hidden, const Tensor& distances) const;
  Tensor norm(const Tensor& hidden, const Tensor& weight) const {
    return torch::layer_norm(hidden, {o_.width}, weight, {}, 1e-5);
  }
  Tensor dropped(const Tensor& x) const {
    return is_training() && o_.dropout > 0 ? place_dropout(x, o_.dropout, draw_dropout_seed()) : x;
  }

  DecayingAttentionOptions o_;
  Tensor embedding_, final_norm_, head_;  // [V, D], [D], [V, D]
  std::vector<DecayingLayer> layers_;
};

Tensor drawn_weight(std::int64_t rows, std::int64_t columns) {
  return torch::randn({rows, columns}) / std::sqrt(static_cast<double>(columns));
}

DecayingAttention::DecayingAttention(const DecayingAttentionOptions& options, std::int64_t symbols) : o_(options) {
  embedding_ = parameter("embedding.weight", torch::randn({symbols, o_.width}));
  for (std::int64_t i = 0; i < o_.layers; ++i) declare_layer(i);
  final_norm_ = parameter("norm.weight", torch::ones({o_.width}));
  head_ = parameter("head.weight", drawn_weight(symbols, o_.width));
}

void DecayingAttention::declare_layer(std::int64_t index) {
  const std::string at = "layers." + std::to_string(index) + ".";
  DecayingLayer layer;
  layer.norm_1 = parameter(at + "norm_1.weight", torch::ones({o_.width}));
  layer.query_key_value = parameter(at + "query_key_value.weight", drawn_weight(3 * o_.width, o_.width));
  layer.out = parameter(at + "out.weight", drawn_weight(o_.width, o_.width));
  layer.norm_2 = parameter(at + "norm_2.weight", torch::ones({o_.width}));
  layer.inner = parameter(at + "inner.weight", drawn_weight(o_.feed_forward, o_.width));
  layer.inner_bias = parameter(at + "inner.bias", torch::zeros({o_.feed_forward}));
  layer.outer = parameter(at + "outer.weight", drawn_weight(o_.width, o_.feed_forward));
  layer.outer_bias = parameter(at + "outer.bias", torch::zeros({o_.width}));
  std::vector<double> logs;
  for (std::int64_t head = 0; head < o_.heads; ++head)
    logs.push_back(std::log(std::numbers::ln2 / o_.half_distance(head)));
  layer.log_rate = torch::tensor(logs, embedding_.scalar_type());
  if (o_.decay == DecayingAttentionOptions::Decay::kLearnt) {
    layer.log_rate = parameter(at + "log_rate", layer.log_rate);
  } else {
    register_buffer("log_rate_" + std::to_string(index), layer.log_rate);  // so that it moves to the device
  }
  layers_.push_back(layer);
}

ModelOutput DecayingAttention::forward(const ModelInput& input, const State& /*state*/) {
  const std::int64_t length = input.tokens.size(1);
  const std::int64_t scored = input.scored > 0 ? input.scored : length;
  Tensor hidden = torch::embedding(embedding_, input.tokens);  // [B, T, D]
  const Tensor places = torch::arange(length, hidden.options());
  const Tensor distances = places.unsqueeze(1) - places.unsqueeze(0);  // [T, T], from a row's query back to a key
  for (const DecayingLayer& layer : layers_) {
    hidden = hidden + dropped(attention(layer, norm(hidden, layer.norm_1), distances));
    const Tensor inner = torch::gelu(linear_layer(norm(hidden, layer.norm_2), layer.inner, layer.inner_bias));
    hidden = hidden + dropped(linear_layer(inner, layer.outer, layer.outer_bias));
  }
  ModelOutput output;
  output.hidden = norm(hidden.narrow(1, length - scored, scored), final_norm_);  // [B, P, D]
  output.head = {.weight = head_};
  return output;
}

/// softmax(q·k / √d − rate · distance) · v over this and earlier tokens, the heads joined: [B, T, D].
Tensor DecayingAttention::attention(const DecayingLayer& layer, const Tensor& hidden, const Tensor& distances) const {
  const std::int64_t width = o_.width / o_.heads;
  const std::vector<Tensor> parts = linear_layer(hidden, layer.query_key_value)
                                        .view({hidden.size(0), hidden.size(1), 3, o_.heads, width})
                                        .transpose(1, 3)
                                        .unbind(2);                                // 3 × [B, H, T, d]
  const Tensor penalty = layer.log_rate.exp().view({o_.heads, 1, 1}) * distances;  // [H, T, T]
  const Tensor scores = torch::matmul(parts[0], parts[1].transpose(2, 3)) / std::sqrt(static_cast<double>(width));
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const Tensor weights = torch::softmax((scores - penalty).masked_fill(distances < 0, kNever), -1);  // [B, H, T, T]
  const Tensor joined = torch::matmul(weights, parts[2]).transpose(1, 2).flatten(2);                 // [B, T, D]
  return linear_layer(joined, layer.out);
}

/// Two FLOPs per multiply-add. Linear layers count once per token. A token sees half of its block on average, and each
/// seen token costs a score and a weighted sum.
NamedValues DecayingAttention::costs(std::int64_t block) const {
  const auto width = static_cast<double>(o_.width);
  const double seen = static_cast<double>(block + 1) / 2;
  const double layer = 4 * width * width + 2 * width * static_cast<double>(o_.feed_forward) + 2 * width * seen;
  const double multiply_adds = static_cast<double>(o_.layers) * layer + width * static_cast<double>(head_.size(0));
  return {{"params", static_cast<double>(parameter_count())}, {"flops_per_token", 2 * multiply_adds}};
}

NamedValues DecayingAttention::statistics() const {
  const std::vector<Grid> all = grids();
  double sum = 0;
  for (const std::vector<double>& row : all.front().rows) {
    for (const double distance : row) sum += distance / static_cast<double>(row.size());
  }
  return {{"half_distance", sum / static_cast<double>(o_.layers)}};
}

/// The half-distance of every head, in tokens.
std::vector<Grid> DecayingAttention::grids() const {
  Grid grid{"half_distances", {}};
  for (const DecayingLayer& layer : layers_) {
    const Tensor rates = layer.log_rate.detach().to(torch::kDouble).exp().cpu();
    std::vector<double> row;
    for (std::int64_t head = 0; head < o_.heads; ++head) row.push_back(std::numbers::ln2 / rates[head].item<double>());
    grid.rows.push_back(row);
  }
  return {grid};
}

}  // namespace

std::shared_ptr<LanguageModel> make_decaying_attention(const ModelOptions& options, std::int64_t symbols) {
  return std::make_shared<DecayingAttention>(options.get<DecayingAttentionOptions>(), symbols);
}

}  // namespace xlm
