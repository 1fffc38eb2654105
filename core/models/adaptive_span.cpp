// The sequential transformer with adaptive attention span (Sukhbaatar et al. 2019), whole in this file but for memories
// that expire (Sukhbaatar et al. 2021; core/nn/expire_span.h).
// experiments/recipes/adaptive-span/README.md#adaptive-attention-span states what the paper leaves open.
//
// B batch, M block, S span limit, C cached positions, L band of a group of heads, H heads, n heads of a group,
// D width, d = D / H, F feed-forward units, V symbols.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/api/adaptive_span_options.h"
#include "core/kernels/banded_attention.h"
#include "core/kernels/dropout.h"
#include "core/kernels/joined_parts.h"
#include "core/kernels/linear.h"
#include "core/kernels/mixed_product.h"
#include "core/kernels/residual_norm.h"
#include "core/models/capabilities.h"
#include "core/nn/expire_span.h"
#include "core/nn/held_bands.h"
#include "core/nn/initial_weights.h"
#include "core/nn/span_counts.h"
#include "core/nn/traced_attention.h"
#include "core/runtime/device.h"

namespace xlm {
namespace {

using torch::Tensor;
using SpanType = AdaptiveSpanOptions::SpanType;

constexpr std::int64_t kCacheMargin = 64;  // a span may grow by so much in an update before the cache is too short
constexpr NormOptions kLayerNorm{.centred = true, .epsilon = 1e-5};
// One more than the ramp's far corner: the mask uses single precision and may round z up to the next whole number.
constexpr std::int64_t kBehindRamp = 2;
constexpr std::int64_t kSpareOfText = 96;  // of held bands whose heads reach as far as the text asks
constexpr double kFirstSpanBias = -4;      // makes the first predicted spans small (Sukhbaatar et al. 2019, §3)

struct Layer {
  Tensor query, key, value, out;                      // [D, D]
  Tensor norm1_weight, norm1_bias;                    // [D]
  Tensor fc1_weight, fc1_bias, fc2_weight, fc2_bias;  // [F, D], [F], [D, F], [D]
  Tensor norm2_weight, norm2_bias;                    // [D]
  Tensor span;                                        // z' [H, 1, 1] of an adaptive span
  Tensor span_weight, span_bias;                      // v [H, D], b [H] of a dynamic span; [1, D], [1] of expire
};

/// A call's output so far, and the spans that its layers have predicted.
struct Call {
  bool holds_bands = false;  // ModelInput::room
  ModelOutput output;
  std::vector<SpanCounts::OfLayer> spans;
};

Tensor uniform(std::int64_t rows, std::int64_t columns) {
  return uniform_weights({rows, columns}, 1 / std::sqrt(static_cast<double>(columns)));
}

Tensor uniform_bias(std::int64_t rows, std::int64_t columns) {
  return uniform_weights({rows}, 1 / std::sqrt(static_cast<double>(columns)));
}

class AdaptiveSpan final : public LanguageModel, public Capturable, public TracesTokens, public TracesHeads {
 public:
  AdaptiveSpan(const AdaptiveSpanOptions& options, std::int64_t symbols)
      : o_(options), head_width_(options.width / options.heads) {
    in_emb_ = parameter("in_emb.weight", normal_weights({symbols, o_.width}));
    key_pe_ = parameter("key_pe", normal_weights({1, head_width_, o_.span}));
    for (std::int64_t i = 0; i < o_.layers; ++i) declare_layer(i);
    out_weight_ = parameter("out_emb.weight", uniform(symbols, o_.width));
    out_bias_ = parameter("out_emb.bias", uniform_bias(symbols, o_.width));
    read_spans();
    predicted_ = SpanCounts(layers_.size(), static_cast<std::size_t>(o_.heads));
  }

  ModelOutput forward(const ModelInput& input, const State& state) override {
    Call call{.holds_bands = input.room > 0, .output = {}, .spans = {}};
    ModelOutput& output = call.output;
    const Tensor embedded = torch::embedding(in_emb_, input.tokens);  // [B, M, D]
    if (input.traced && has_token_values()) output.token_values["span"] = embedded.new_zeros(input.tokens.sizes());
    if (input.heads_traced) {
      const Tensor nothing = torch::zeros({o_.layers * o_.heads, o_.span}, torch::kDouble);
      output.head_values["attention"] = nothing;
      if (o_.span_type != SpanType::kFixed) output.head_values["mask"] = nothing.clone();
    }
    NormedStream h{embedded, embedded};
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Layer& layer = layers_[i];
      const Tensor attended = attention(i, h, state.at(i), call);
      h = normed_sum(h.stream, {.value = attended}, {.scale = layer.norm1_weight, .bias = layer.norm1_bias},
                     kLayerNorm);
      const double dropout = is_training() ? o_.dropout : 0;
      const Tensor inner = place_dropout(torch::relu(linear_layer(h.read, layer.fc1_weight, layer.fc1_bias)), dropout,
                                         dropout > 0 ? draw_dropout_seed() : 0);  // [B, M, F]
      h = normed_sum(h.stream, {.value = linear_layer(inner, layer.fc2_weight, layer.fc2_bias)},
                     {.scale = layer.norm2_weight, .bias = layer.norm2_bias}, kLayerNorm);
    }
    count_spans(call);
    output.hidden = h.stream;  // [B, M, D]
    output.head = {.weight = out_weight_, .bias = out_bias_};
    return output;
  }

  State initial_state(std::int64_t batch) const override {
    // Positions before the stream are zero vectors (experiments/recipes/adaptive-span/README.md#the-past-of-a-stream),
    // and a shorter cache reads as if it had them. Of memories that expire there are none before the stream.
    return State(layers_.size(), torch::zeros({batch, 0, o_.width}, in_emb_.options().requires_grad(false)));
  }

  void after_step() override {
    if (o_.span_type != SpanType::kAdaptive) return;
    const torch::NoGradGuard no_grad;
    for (const Layer& layer : layers_) layer.span.clamp_(0, 1);
    read_spans();
  }

  NamedValues statistics() const override {
    double average = 0;
    double longest = 0;
    const std::vector<std::vector<double>> spans = head_spans();
    const std::vector<std::vector<double>> largest = predicts_spans() ? predicted_.largest() : spans;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      average += layer_average(i, spans[i]) / static_cast<double>(layers_.size());
      longest = std::max(longest, positions_seen(i, *std::ranges::max_element(largest[i])));
    }
    return {{"average_span", average}, {"max_span", longest}};
  }

  void reset_statistics() override { predicted_.reset(); }

  Counts counts() const override {
    if (!predicts_spans()) return {};
    return {.sums = predicted_.sums(), .maxima = predicted_.maxima()};
  }

  void set_counts(const Counts& counts) override {
    if (predicts_spans()) predicted_.set(counts.sums, counts.maxima, in_emb_.device());
  }

  std::vector<Grid> grids() const override {
    Grid spans{"spans", {}};
    const std::vector<std::vector<double>> of_heads = head_spans();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      std::vector<double> row;
      for (const double z : of_heads[i]) row.push_back(positions_seen(i, z));
      spans.rows.push_back(row);
    }
    return {spans};
  }

  /// Set by the bands. Which memories have expired depends on the text.
  std::optional<std::string> graph_signature() const override {
    if (o_.span_type == SpanType::kExpire) return std::nullopt;
    std::string text;
    for (std::size_t i = 0; i < layers_.size(); ++i) text += fmt::format("{} ", fmt::join(bands(i, {}), ","));
    return text;
  }

  /// Those of dynamic heads begin as small as they can be.
  void hold_sizes() override {
    if (!held_.empty()) return;
    if (o_.span_type == SpanType::kAdaptive) held_.fit(adaptive_reaches(), o_.span);
    if (o_.span_type == SpanType::kDynamic) {
      held_.fit(
          HeldBands::Reaches(layers_.size(), reaches(0, std::vector<double>(static_cast<std::size_t>(o_.heads), 0))),
          o_.span);
    }
  }

  std::vector<std::int64_t> held_sizes() const override { return held_.sizes(); }
  void set_held_sizes(const std::vector<std::int64_t>& sizes) override {
    if (held_.empty()) return;
    held_.set_sizes(sizes);
    if (o_.span_type == SpanType::kAdaptive) held_.fit(adaptive_reaches(), o_.span);
  }

  std::int64_t room(const ModelInput& /*input*/) override {
    if (o_.span_type != SpanType::kDynamic || held_.empty()) return 0;
    const std::vector<std::int64_t> sizes = held_.sizes();
    if (!held_on_device_.defined() || held_sizes_ != sizes) {
      held_on_device_ = torch::tensor(sizes, torch::kLong).to(in_emb_.device());
      held_sizes_ = sizes;
    }
    return *std::ranges::max_element(sizes);
  }

  bool had_room(const std::vector<std::int64_t>& needed, std::int64_t room) override {
    const std::vector<std::int64_t> sizes = held_.sizes();
    const auto fits = [this](std::int64_t reach, std::int64_t band) { return std::min(reach, o_.span) <= band; };
    const bool is_enough = std::ranges::equal(needed, sizes, fits);
    HeldBands::Reaches reaches;
    for (auto next = needed.begin(); next != needed.end(); next += o_.heads)
      reaches.emplace_back(next, next + o_.heads);
    held_.fit(reaches, o_.span, kSpareOfText);
    return room == 0 || is_enough;
  }

  bool has_token_values() const override { return predicts_spans(); }
  std::int64_t head_reach() const override { return o_.span; }
  /// paper_flops as the paper counts: parameters of the layers + Σ over layers of 2·D·(average span). flops_per_token:
  /// two per multiply-add of one predicted token, with the keys and values of earlier ones available: every linear
  /// layer, and per head and position of its span the two scores and the sum of values.
  NamedValues costs(std::int64_t /*block*/) const override {
    double layer_parameters = 0;
    for (const auto& [name, tensor] : weights()) {
      if (name.starts_with("layers.")) layer_parameters += static_cast<double>(tensor.numel());
    }
    const auto width = static_cast<double>(o_.width);
    double paper = layer_parameters;
    double multiply_adds = width * static_cast<double>(out_weight_.size(0));
    const std::vector<std::vector<double>> spans = head_spans();
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      paper += 2 * width * layer_average(i, spans[i]);
      multiply_adds += 4 * width * width + 2 * width * static_cast<double>(o_.feed_forward);
      if (predicts_spans()) multiply_adds += static_cast<double>(layers_[i].span_weight.numel());
      for (const double z : spans[i]) multiply_adds += 3 * static_cast<double>(head_width_) * positions_seen(i, z);
    }
    return {{"params", static_cast<double>(parameter_count())},
            {"paper_flops", paper},
            {"flops_per_token", 2 * multiply_adds}};
  }

  bool costs_are_measured() const override { return o_.span_type != SpanType::kFixed; }

 private:
  bool predicts_spans() const { return o_.span_type == SpanType::kDynamic || o_.span_type == SpanType::kExpire; }
  void declare_layer(std::int64_t index) {
    const std::string at = "layers." + std::to_string(index) + ".";
    Layer layer;
    layer.query = parameter(at + "attn.proj_query.weight", uniform(o_.width, o_.width));
    layer.key = parameter(at + "attn.proj_key.weight", uniform(o_.width, o_.width));
    layer.value = parameter(at + "attn.proj_val.weight", uniform(o_.width, o_.width));
    layer.out = parameter(at + "attn.proj_out.weight", uniform(o_.width, o_.width));
    layer.norm1_weight = parameter(at + "norm1.weight", torch::ones({o_.width}));
    layer.norm1_bias = parameter(at + "norm1.bias", torch::zeros({o_.width}));
    layer.fc1_weight = parameter(at + "ff.fc1.weight", uniform(o_.feed_forward, o_.width));
    layer.fc1_bias = parameter(at + "ff.fc1.bias", uniform_bias(o_.feed_forward, o_.width));
    layer.fc2_weight = parameter(at + "ff.fc2.weight", uniform(o_.width, o_.feed_forward));
    layer.fc2_bias = parameter(at + "ff.fc2.bias", uniform_bias(o_.width, o_.feed_forward));
    layer.norm2_weight = parameter(at + "norm2.weight", torch::ones({o_.width}));
    layer.norm2_bias = parameter(at + "norm2.bias", torch::zeros({o_.width}));
    if (o_.span_type == SpanType::kAdaptive) {
      layer.span = parameter(at + "attn.attn.adaptive_span._mask.current_val", torch::zeros({o_.heads, 1, 1}));
    } else if (o_.span_type == SpanType::kDynamic) {
      layer.span_weight = parameter(at + "attn.attn.dynamic_span.weight", torch::zeros({o_.heads, o_.width}));
      layer.span_bias = parameter(at + "attn.attn.dynamic_span.bias", torch::full({o_.heads}, kFirstSpanBias));
    } else if (o_.span_type == SpanType::kExpire) {
      layer.span_weight = parameter(at + "attn.attn.expire_span.weight", torch::zeros({1, o_.width}));
      layer.span_bias = parameter(at + "attn.attn.expire_span.bias", torch::full({1}, kFirstSpanBias));
    }
    layers_.push_back(layer);
  }

  /// Attention of one layer: heads of equal bands are computed together, each group over its own band. Adds the
  /// layer's span penalty and next cache to the output.
  Tensor attention(std::size_t index, const NormedStream& now, const Tensor& cache, Call& call) {
    if (o_.span_type == SpanType::kExpire) return attention_to_memories(index, now, cache, call);
    ModelOutput& output = call.output;
    const Tensor& hidden = now.stream;
    const Layer& layer = layers_[index];
    const std::int64_t block = hidden.size(1);
    Tensor spans;  // z: [1, H, 1, 1], or [B, H, M, 1] of a dynamic span
    if (layer.span.defined()) spans = (layer.span * static_cast<double>(o_.span)).view({1, o_.heads, 1, 1});
    std::vector<double> longest;  // of a dynamic span whose bands are not held: the largest z of each head
    if (layer.span_weight.defined()) {
      spans = dynamic_spans(index, hidden, call);
      if (!call.holds_bands) longest = rows_on_host(call.spans.back().largest.unsqueeze(0)).front();
    }
    if (spans.defined()) report_spans(spans, output);
    std::map<std::int64_t, std::vector<std::int64_t>> groups;  // band → heads
    const std::vector<std::int64_t> band_of = bands(index, longest);
    for (std::int64_t head = 0; head < o_.heads; ++head)
      groups[band_of[static_cast<std::size_t>(head)]].push_back(head);

    // Zeros before the stream, cached states as far back as a head may look, and the block, as products read them.
    const std::int64_t past = std::max(groups.rbegin()->first, std::min(cache.size(1), cache_length(index)));
    const std::int64_t cached = std::min(past, cache.size(1));
    const torch::ScalarType type = type_of_products(layer.key);
    const Tensor before = hidden.new_zeros({hidden.size(0), past - cached, o_.width}, type);
    const Tensor known = cache.narrow(1, cache.size(1) - cached, cached).to(type);
    const Tensor seen = torch::cat({before, known, now.read.detach().to(type)}, 1);  // [B, past + M, D]
    output.state.push_back(seen.slice(1, std::max(past - cached, past + block - cache_length(index))));

    std::vector<std::int64_t> order;  // heads as they are joined
    std::vector<Tensor> outputs;      // per group [B, M, n, d]
    for (const auto& [band, heads] : groups) {
      const BandedAttentionInput input =
          group_input(layer, heads, now, seen.narrow(1, past - band, band + block), spans);
      trace_attention(input, {}, static_cast<std::int64_t>(index) * o_.heads, heads, output.head_values);
      outputs.push_back(banded_attention(input).transpose(1, 2));
      order.insert(order.end(), heads.begin(), heads.end());
    }
    const Tensor joined = outputs.size() == 1 ? outputs.front() : torch::cat(outputs, 2);  // [B, M, H, d]
    const Tensor weight = chosen_slices(layer.out.view({o_.width, o_.heads, head_width_}), order, 1).flatten(1);
    return linear_layer(joined.flatten(2), weight, {}, layer.out);  // [B, M, D]
  }

  /// The attention input of n heads that see L positions: `seen` [B, L + M, D] ends with the values of `now` [B, M, D].
  /// Keys and values are projected only that far back, with the current weights.
  BandedAttentionInput group_input(const Layer& layer, const std::vector<std::int64_t>& heads, const NormedStream& now,
                                   const Tensor& seen, const Tensor& spans) {
    const Tensor& hidden = now.stream;
    const auto count = static_cast<std::int64_t>(heads.size());
    const auto rows_of = [&](const Tensor& weight) {  // [D, D] → [n·d, D]
      return chosen_slices(weight.view({o_.heads, head_width_, o_.width}), heads, 0).flatten(0, 1);
    };
    const Tensor query = linear_layer(now.read, rows_of(layer.query));  // [B, M, n·d]
    const Tensor key_value =
        linear_layer_with_past(seen, hidden, torch::cat({rows_of(layer.key), rows_of(layer.value)}))
            .view({hidden.size(0), seen.size(1), 2, count, head_width_});
    const std::vector<Tensor> parts = unbind_joined(key_value, 2);  // [B, L + M, n, d] each
    const std::int64_t band = seen.size(1) - hidden.size(1);
    const double dropout = is_training() ? o_.attention_dropout : 0;
    return {.query = query.view({hidden.size(0), hidden.size(1), count, head_width_}).transpose(1, 2),
            .key = parts[0].transpose(1, 2),
            .value = parts[1].transpose(1, 2),
            .position = key_pe_[0].narrow(1, o_.span - band, band),
            .span = spans.defined() ? chosen_slices(spans, heads, 1) : spans,
            .ramp = static_cast<double>(o_.span_ramp),
            .dropout = dropout,
            .seed = dropout > 0 ? draw_dropout_seed() : 0};
  }

  /// Attention to memories that expire (Sukhbaatar et al. 2021): all heads see the same ones.
  Tensor attention_to_memories(std::size_t index, const NormedStream& now, const Tensor& cache, Call& call) {
    ModelOutput& output = call.output;
    const Tensor& hidden = now.stream;
    const Layer& layer = layers_[index];
    LiveMemories memories;
    {
      const FullPrecisionScope precision(hidden.device());  // as in dynamic_spans
      memories =
          live_memories(cache, hidden,
                        {.weight = layer.span_weight, .bias = layer.span_bias, .limit = o_.span, .ramp = o_.span_ramp});
    }
    output.state.push_back(memories.state);
    call.spans.push_back(SpanCounts::of(memories.own.unsqueeze(-1).expand({-1, -1, o_.heads})));
    report_spans(memories.own.unsqueeze(1).unsqueeze(-1), output);
    std::vector<std::int64_t> heads(static_cast<std::size_t>(o_.heads));
    std::iota(heads.begin(), heads.end(), 0);
    const BandedAttentionInput input = group_input(layer, heads, now, memories.seen, {});
    trace_attention(input, memories.spans, static_cast<std::int64_t>(index) * o_.heads, heads, output.head_values);
    return linear_layer(expiring_attention(input, memories.spans).transpose(1, 2).flatten(2), layer.out);  // [B, M, D]
  }

  /// Adds the price of a layer's spans z [1 | B, 1 | H, 1 | M, 1] to the loss, and what it looks back to traced values.
  void report_spans(const Tensor& spans, ModelOutput& output) const {
    if (const auto traced = output.token_values.find("span"); traced != output.token_values.end()) {
      const Tensor seen = (spans.detach().ceil() + o_.span_ramp).clamp_max(o_.span);  // [B, 1 | H, M, 1], as in grids()
      // Over heads and layers, as in Sukhbaatar et al. 2019, figure 5: [B, M].
      traced->second += seen.mean(1).squeeze(-1) / o_.layers;
    }
    // λ / H · Σ of z (Sukhbaatar et al. 2019, §2.2), α / T · Σ of e (Sukhbaatar et al. 2021).
    const Tensor price = o_.span_penalty * spans.mean();
    output.auxiliary_loss = output.auxiliary_loss.defined() ? output.auxiliary_loss + price : price;
  }

  /// z_t = S·σ(vᵀx_t + b) per head and query (Sukhbaatar et al. 2019, §2.2): [B, H, M, 1]. Notes it in `call`. Under
  /// bfloat16 it is computed in the weights' type, because eight bits would round a span of 1000 to a multiple of 4.
  Tensor dynamic_spans(std::size_t index, const Tensor& hidden, Call& call) const {
    const FullPrecisionScope precision(hidden.device());
    const Layer& layer = layers_[index];
    const Tensor seen_by = hidden.to(in_emb_.scalar_type());
    const Tensor z = torch::sigmoid(linear_layer(seen_by, layer.span_weight, layer.span_bias)) *
                     static_cast<double>(o_.span);  // [B, M, H]
    call.spans.push_back(SpanCounts::of(z));
    return z.transpose(1, 2).unsqueeze(-1);
  }

  /// Counts predicted spans for the statistics. With held bands it says how far the heads reach, and counts what had
  /// room.
  void count_spans(Call& call) {
    if (call.spans.empty()) return;
    Tensor valid;
    if (call.holds_bands) {
      std::vector<Tensor> largest;
      for (const SpanCounts::OfLayer& layer : call.spans) largest.push_back(layer.largest);
      const Tensor corners = torch::cat(largest).floor().to(torch::kLong) + (o_.span_ramp + kBehindRamp);
      call.output.needed = corners.clamp(1, o_.span);  // as in reaches()
      valid = (call.output.needed <= held_on_device_).all();
    }
    predicted_.add(call.spans, valid);
  }

  /// How far back each head's mask is not zero; `dynamic` has the largest z of each head of a dynamic span. Includes
  /// the far corner of the ramp, where the mask is 0 but its derivative is not
  /// (experiments/recipes/adaptive-span/README.md#the-soft-mask).
  std::vector<std::int64_t> reaches(std::size_t index, const std::vector<double>& dynamic) const {
    std::vector<std::int64_t> result(static_cast<std::size_t>(o_.heads), o_.span_of(index));
    const std::vector<double>& z = o_.span_type == SpanType::kAdaptive ? spans_[index] : dynamic;
    for (std::size_t head = 0; head < z.size(); ++head) {
      const auto corner = static_cast<std::int64_t>(std::floor(z[head])) + o_.span_ramp + kBehindRamp;
      result[head] = std::clamp<std::int64_t>(corner, 1, o_.span);
    }
    return result;
  }

  /// Positions that each head computes: its reach in whole steps, so that heads and blocks of nearly equal reach have
  /// the same shape. Held bands stay as they are held.
  std::vector<std::int64_t> bands(std::size_t index, const std::vector<double>& dynamic) const {
    if (!held_.empty() && dynamic.empty()) return held_.of_layer(index);
    std::vector<std::int64_t> result = reaches(index, dynamic);
    for (std::int64_t& band : result) band = band_of(band, o_.span_of(index));
    return result;
  }

  /// Cached positions that the next block may need: the longest band with a margin, as the published code keeps.
  /// A dynamic span can jump to S at any query.
  std::int64_t cache_length(std::size_t index) const {
    if (o_.span_type != SpanType::kAdaptive) return o_.span_of(index);
    const std::vector<std::int64_t> band = bands(index, {});
    return std::min(o_.span, *std::ranges::max_element(band) + kCacheMargin);
  }

  void read_spans() {
    if (o_.span_type != SpanType::kAdaptive) return;
    const torch::NoGradGuard no_grad;
    std::vector<Tensor> values;
    for (const Layer& layer : layers_) values.push_back(layer.span.flatten());
    spans_ = rows_on_host(torch::stack(values).to(torch::kDouble).cpu() * static_cast<double>(o_.span));
    if (!held_.empty()) held_.fit(adaptive_reaches(), o_.span);
  }

  HeldBands::Reaches adaptive_reaches() const {
    HeldBands::Reaches all;
    for (std::size_t i = 0; i < layers_.size(); ++i) all.push_back(reaches(i, {}));
    return all;
  }

  /// z by layer and head: the layer's S for fixed spans, the average since the last reset for predicted ones.
  std::vector<std::vector<double>> head_spans() const {
    if (o_.span_type == SpanType::kAdaptive) return spans_;
    if (predicts_spans()) return predicted_.means();
    std::vector<std::vector<double>> spans;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      spans.emplace_back(static_cast<std::size_t>(o_.heads), static_cast<double>(o_.span_of(i)));
    }
    return spans;
  }

  /// Positions that a head of this span sees, its ramp included: min(S, ceil(z) + R).
  double positions_seen(std::size_t index, double z) const {
    return std::min(static_cast<double>(o_.span_of(index)), std::ceil(z) + static_cast<double>(o_.span_ramp));
  }

  /// min(S, ceil(mean over heads of z) + R), as published
  /// (experiments/recipes/adaptive-span/README.md#spans-and-costs-that-are-reported).
  double layer_average(std::size_t index, const std::vector<double>& z) const {
    double mean = 0;
    for (const double value : z) mean += value / static_cast<double>(z.size());
    return positions_seen(index, mean);
  }

  AdaptiveSpanOptions o_;
  std::int64_t head_width_;
  Tensor in_emb_, key_pe_, out_weight_, out_bias_;  // [V, D], [1, d, S], [V, D], [V]
  std::vector<Layer> layers_;
  std::vector<std::vector<double>> spans_;  // z of every adaptive head, after the last update
  HeldBands held_;                          // of adaptive and dynamic heads; empty: bands are not held
  std::vector<std::int64_t> held_sizes_;    // of dynamic heads, as they are on the device
  Tensor held_on_device_;                   // the same, [layers·H] int64: one while they stay, as recordings read it
  SpanCounts predicted_;
};

}  // namespace

std::shared_ptr<LanguageModel> make_adaptive_span(const ModelOptions& options, std::int64_t symbols) {
  return std::make_shared<AdaptiveSpan>(options.get<AdaptiveSpanOptions>(), symbols);
}

}  // namespace xlm
