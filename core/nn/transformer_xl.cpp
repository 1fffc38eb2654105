// Transformer-XL layers.
#include "core/nn/transformer_xl.h"

#include "core/kernels/dropout.h"
#include "core/kernels/joined_parts.h"
#include "core/kernels/linear.h"
#include "core/kernels/relative_attention.h"
#include "core/kernels/residual_norm.h"
#include "core/nn/initial_weights.h"

namespace xlm {
namespace {

using torch::Tensor;

constexpr double kXlDeviation = 0.02;
constexpr double kNormEpsilon = 1e-5;

}  // namespace

Tensor sinusoid_table(std::int64_t length, std::int64_t width, const torch::TensorOptions& options) {
  const torch::TensorOptions real = torch::TensorOptions(torch::kDouble).device(options.device());
  const Tensor frequencies =
      torch::pow(10000.0, -torch::arange(0, width, 2, real) / static_cast<double>(width));  // [D / 2]
  const Tensor angles = torch::outer(torch::arange(length, real), frequencies);             // [length, D / 2]
  return torch::cat({angles.sin(), angles.cos()}, 1).to(options.dtype());
}

void declare_affine(const DeclareParameter& declare, const std::string& name, std::int64_t out, std::int64_t in,
                    Tensor& weight, Tensor& bias) {
  weight = declare(name + ".weight", normal_weights({out, in}, kXlDeviation));
  bias = declare(name + ".bias", torch::zeros({out}));
}

void declare_norm(const DeclareParameter& declare, const std::string& name, std::int64_t width, Tensor& weight,
                  Tensor& bias) {
  weight = declare(name + ".weight", 1 + normal_weights({width}, kXlDeviation));
  bias = declare(name + ".bias", torch::zeros({width}));
}

TransformerXlStage::TransformerXlStage(const DeclareParameter& declare, const std::string& prefix, std::int64_t count,
                                       const TransformerXlShape& shape)
    : shape_(shape) {
  const std::int64_t width = shape.width;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string at = prefix + "." + std::to_string(i) + ".";
    Layer layer;
    declare_affine(declare, at + "dec_attn.qkv_net", 3 * width, width, layer.qkv.weight, layer.qkv.bias);
    declare_affine(declare, at + "dec_attn.r_net", width, width, layer.r.weight, layer.r.bias);
    declare_affine(declare, at + "dec_attn.o_net", width, width, layer.out.weight, layer.out.bias);
    declare_norm(declare, at + "dec_attn.layer_norm", width, layer.attention_norm.weight, layer.attention_norm.bias);
    declare_affine(declare, at + "pos_ff.CoreNet.0", shape.feed_forward, width, layer.inner.weight, layer.inner.bias);
    declare_affine(declare, at + "pos_ff.CoreNet.3", width, shape.feed_forward, layer.outer.weight, layer.outer.bias);
    declare_norm(declare, at + "pos_ff.layer_norm", width, layer.norm.weight, layer.norm.bias);
    layers_.push_back(layer);
  }
}

Tensor TransformerXlStage::forward(const Tensor& hidden, const RelativePositions& positions, bool training) const {
  if (layers_.empty()) return hidden;
  const double dropout = training ? shape_.dropout : 0;
  const auto seed = [dropout] { return dropout > 0 ? draw_dropout_seed() : 0; };
  const auto after = [&](const Tensor& stream, const Tensor& added, std::uint64_t drawn, const Affine& norm) {
    return normed_sum(stream, {.value = added, .dropout = dropout, .seed = drawn},
                      {.scale = norm.weight, .bias = norm.bias}, {.centred = true, .epsilon = kNormEpsilon});
  };
  Tensor encoding = positions.sinusoids.narrow(0, 0, hidden.size(1));  // [T, D], the same for all rows of the batch
  if (dropout > 0) encoding = place_dropout(encoding, dropout, draw_seed());
  NormedStream now{hidden, hidden};
  for (const Layer& layer : layers_) {
    const Tensor attended = attention(layer, now.read, encoding, positions, training);
    now = after(now.stream, attended, seed(), layer.attention_norm);
    const Tensor inner = torch::gelu(linear_layer(now.read, layer.inner.weight, layer.inner.bias));  // [B, T, F]
    const Tensor outer =
        linear_layer(place_dropout(inner, dropout, seed()), layer.outer.weight, layer.outer.bias);  // [B, T, D]
    now = after(now.stream, outer, seed(), layer.norm);
  }
  return now.stream;
}

Tensor TransformerXlStage::attention(const Layer& layer, const Tensor& hidden, const Tensor& encoding,
                                     const RelativePositions& positions, bool training) const {
  const std::int64_t batch = hidden.size(0);
  const std::int64_t length = hidden.size(1);
  const std::int64_t head_width = shape_.width / shape_.heads;
  const std::vector<Tensor> parts = unbind_joined(
      linear_layer(hidden, layer.qkv.weight, layer.qkv.bias).view({batch, length, 3, shape_.heads, head_width}),
      2);                                                                             // 3 × [B, T, H, d]
  const auto part = [&](std::size_t index) { return parts[index].transpose(1, 2); };  // [B, H, T, d]
  const Tensor r = linear_layer(encoding, layer.r.weight, layer.r.bias)
                       .view({length, shape_.heads, head_width})
                       .transpose(0, 1);  // [H, T, d]
  const double dropout = training ? shape_.attention_dropout : 0;
  const Tensor attended = relative_attention({.query = part(0),
                                              .key = part(1),
                                              .value = part(2),
                                              .position = r,
                                              .content_bias = positions.content_bias,
                                              .position_bias = positions.position_bias,
                                              .dropout = dropout,
                                              .seed = dropout > 0 ? draw_dropout_seed() : 0});  // [B, H, T, d]
  const Tensor joined = attended.transpose(1, 2).reshape({batch, length, shape_.width});        // [B, T, D]
  return linear_layer(joined, layer.out.weight, layer.out.bias);
}

}  // namespace xlm
