// The block of a modern transformer.
#include "core/nn/transformer_block.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/causal_attention.h"
#include "core/kernels/counter_dropout.h"
#include "core/kernels/dropout.h"
#include "core/kernels/linear.h"
#include "core/kernels/tanh_gelu.h"
#include "core/kernels/window_attention.h"
#include "core/nn/initial_weights.h"

namespace xlm {
namespace {

using torch::Tensor;
using Rotary = BlockOptions::Rotary;
using Activation = BlockOptions::Activation;

Tensor added_part(const Tensor& x, double dropout) {
  return dropout > 0 ? place_dropout(x, dropout, draw_dropout_seed()) : x;
}

/// [B, T, n·d] → [B, T, n, d].
Tensor split_heads(const Tensor& x, std::int64_t head_width) { return x.view({x.size(0), x.size(1), -1, head_width}); }

}  // namespace

Rotation::Rotation(const BlockOptions& options, std::int64_t first, std::int64_t count, const Tensor& like)
    : rotary_(options.rotary) {
  if (rotary_ == Rotary::kNone) return;
  const torch::TensorOptions real = torch::TensorOptions(torch::kDouble).device(like.device());
  const auto width = static_cast<double>(options.head_width);
  const Tensor frequencies = torch::pow(options.rope_theta, -torch::arange(0, options.head_width, 2, real) / width);
  const Tensor angles = torch::outer(torch::arange(first, first + count, real), frequencies).unsqueeze(1);
  const torch::ScalarType type = like.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  if (rotary_ == Rotary::kNeighbours) {
    factors_ = torch::complex(angles.cos().to(type), angles.sin().to(type));
  } else {
    cos_ = angles.cos().to(type);
    sin_ = angles.sin().to(type);
  }
}

Tensor Rotation::turn(const Tensor& x) const {
  if (rotary_ == Rotary::kNone) return x;
  const torch::ScalarType given = x.scalar_type();
  const Tensor wide = given == torch::kDouble ? x : x.to(torch::kFloat);
  if (rotary_ == Rotary::kNeighbours) {
    const Tensor pairs = torch::view_as_complex(wide.unflatten(-1, {-1, 2}).contiguous());
    return torch::view_as_real(pairs * factors_).flatten(-2).to(given);
  }
  const std::vector<Tensor> halves = wide.chunk(2, -1);
  return torch::cat({halves[0] * cos_ - halves[1] * sin_, halves[1] * cos_ + halves[0] * sin_}, -1).to(given);
}

Tensor block_norm(const BlockOptions& options, const Tensor& x, const Tensor& scale) {
  if (options.norm == BlockOptions::Norm::kRms)
    return torch::rms_norm(x, scale.sizes(), scale, BlockOptions::kNormEpsilon);
  return torch::layer_norm(x, scale.sizes(), scale, {}, BlockOptions::kNormEpsilon);
}

double matrix_deviation(const BlockOptions& options, std::int64_t in, bool added, std::int64_t additions) {
  if (options.weights == BlockOptions::Weights::kSimple) return 1 / std::sqrt(static_cast<double>(in));
  return added ? 0.02 / std::sqrt(static_cast<double>(additions)) : 0.02;
}

TransformerBlock::TransformerBlock(const DeclareParameter& declare, const std::string& prefix,
                                   const BlockOptions& options, std::int64_t width, std::int64_t feed_forward,
                                   std::int64_t window, std::int64_t layers)
    : options_(options),
      width_(width),
      heads_(width / options.head_width),
      key_value_heads_(options.key_value_heads > 0 ? options.key_value_heads : heads_),
      window_(window) {
  const auto matrix = [&](const std::string& name, std::int64_t out, std::int64_t in, bool added = false) {
    return declare(prefix + name + ".weight",
                   normal_weights({out, in}, matrix_deviation(options, in, added, 2 * layers)));
  };
  const auto scale = [&](const std::string& name, std::int64_t size) {
    return declare(prefix + name + ".weight", torch::ones({size}));
  };
  const std::int64_t shared = key_value_heads_ * options.head_width;
  attention_norm_ = scale("input_layernorm", width);
  query_ = matrix("self_attn.q_proj", width, width);
  key_ = matrix("self_attn.k_proj", shared, width);
  value_ = matrix("self_attn.v_proj", shared, width);
  if (options.qk_norm) {
    query_norm_ = scale("self_attn.q_norm", options.head_width);
    key_norm_ = scale("self_attn.k_norm", options.head_width);
  }
  out_ = matrix("self_attn.o_proj", width, width, true);
  norm_ = scale("post_attention_layernorm", width);
  if (options.activation == Activation::kSwiglu) gate_ = matrix("mlp.gate_proj", feed_forward, width);
  up_ = matrix("mlp.up_proj", feed_forward, width);
  down_ = matrix("mlp.down_proj", width, feed_forward, true);
}

Tensor TransformerBlock::forward(const Tensor& hidden, const Rotation& rotation, std::int64_t kept, bool training,
                                 KeyValueCache* cache) const {
  const double dropout = training ? options_.dropout : 0;
  const Tensor attended =
      hidden.narrow(1, hidden.size(1) - kept, kept) + added_part(attention(hidden, rotation, kept, cache), dropout);
  return attended + added_part(feed_forward(attended), dropout);
}

Tensor TransformerBlock::attention(const Tensor& hidden, const Rotation& rotation, std::int64_t kept,
                                   KeyValueCache* cache) const {
  const Tensor normed = block_norm(options_, hidden, attention_norm_);  // [B, T, k]
  const std::vector<Tensor> made = linear_layers(normed, {query_, key_, value_});
  Tensor query = split_heads(made[0], options_.head_width);
  Tensor key = split_heads(made[1], options_.head_width);
  Tensor value = split_heads(made[2], options_.head_width).transpose(1, 2);  // [B, G, T, d]
  if (options_.qk_norm) {
    query = block_norm(options_, query, query_norm_);
    key = block_norm(options_, key, key_norm_);
  }
  query = rotation.turn(query).narrow(1, query.size(1) - kept, kept).transpose(1, 2).to(value.scalar_type());
  key = rotation.turn(key).transpose(1, 2).to(value.scalar_type());
  if (cache != nullptr) {
    if (cache->keys.defined()) {
      key = torch::cat({cache->keys, key}, 2);
      value = torch::cat({cache->values, value}, 2);
    }
    *cache = {key, value};
    if (window_ > 0 && key.size(2) > window_) {  // no later query sees more
      const std::int64_t first = key.size(2) - window_;
      *cache = {key.narrow(2, first, window_).contiguous(), value.narrow(2, first, window_).contiguous()};
    }
  }
  if (key_value_heads_ < heads_) {
    key = key.repeat_interleave(heads_ / key_value_heads_, 1);
    value = value.repeat_interleave(heads_ / key_value_heads_, 1);
  }
  const Tensor attended = window_ > 0 && window_ < key.size(2)
                              ? window_attention({.query = query, .key = key, .value = value, .window = window_})
                              : causal_attention({.query = query, .key = key, .value = value});  // [B, H, kept, d]
  return linear_layer(attended.transpose(1, 2).reshape({hidden.size(0), kept, width_}), out_, {});
}

Tensor TransformerBlock::feed_forward(const Tensor& hidden) const {
  const Tensor normed = block_norm(options_, hidden, norm_);
  if (options_.activation == Activation::kSwiglu) {
    const std::vector<Tensor> made = linear_layers(normed, {gate_, up_});  // [B, T, F]
    return linear_layer(torch::silu(made[0]) * made[1], down_, {});
  }
  const Tensor up = linear_layer(normed, up_, {});  // [B, T, F]
  switch (options_.activation) {
    case Activation::kGelu:
      return linear_layer(tanh_gelu(up), down_, {});
    case Activation::kRelu:
      return linear_layer(torch::relu(up), down_, {});
    case Activation::kRelu2:
    case Activation::kSwiglu:
      break;
  }
  return linear_layer(torch::relu(up).square(), down_, {});
}

double TransformerBlock::average_keys(std::int64_t length) const {
  const auto all = static_cast<double>(length);
  if (window_ == 0 || window_ >= length) return (all + 1) / 2;
  const auto window = static_cast<double>(window_);
  return (window * (window + 1) / 2 + (all - window) * window) / all;
}

double TransformerBlock::multiply_adds(double keys) const {
  double matrices = 0;
  for (const Tensor& matrix : {query_, key_, value_, out_, gate_, up_, down_}) {
    if (matrix.defined()) matrices += static_cast<double>(matrix.numel());
  }
  return matrices + 2 * keys * static_cast<double>(width_);
}

}  // namespace xlm
