// The block of a modern transformer.
#include "core/nn/transformer_block.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "core/kernels/causal_attention.h"
#include "core/kernels/dropout.h"
#include "core/kernels/linear.h"
#include "core/kernels/residual_norm.h"
#include "core/kernels/tanh_gelu.h"
#include "core/nn/initial_weights.h"

namespace xlm {
namespace {

using torch::Tensor;
using Rotary = BlockOptions::Rotary;
using Activation = BlockOptions::Activation;

Tensor added_part(const Tensor& x, double dropout) {
  return dropout > 0 ? place_dropout(x, dropout, draw_dropout_seed()) : x;
}

NormOptions norm_options(const BlockOptions& options) {
  return {.centred = options.norm == BlockOptions::Norm::kLayer, .epsilon = options.epsilon()};
}

/// [B, T, n·d] → [B, T, n, d].
Tensor split_heads(const Tensor& x, std::int64_t head_width) { return x.view({x.size(0), x.size(1), -1, head_width}); }

}  // namespace

Tensor last_positions(const Tensor& x, std::int64_t count) {
  return count == x.size(1) ? x : x.narrow(1, x.size(1) - count, count);
}

std::optional<PairRotation> rotation_of(const BlockOptions& options, std::int64_t first, std::int64_t count,
                                        const Tensor& like) {
  if (options.rotary == Rotary::kNone) return std::nullopt;
  const torch::TensorOptions real = torch::TensorOptions(torch::kDouble).device(like.device());
  const auto width = static_cast<double>(options.head_width);
  const Tensor frequencies = torch::pow(options.rope_theta, -torch::arange(0, options.head_width, 2, real) / width);
  return PairRotation(torch::outer(torch::arange(first, first + count, real), frequencies),
                      options.rotary == Rotary::kHalves ? RotatedPairs::kHalves : RotatedPairs::kNeighbours,
                      like.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat);
}

Tensor block_norm(const BlockOptions& options, const Tensor& x, const Tensor& scale) {
  return norm_of(x, scale, norm_options(options));
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

Residual TransformerBlock::forward(const Residual& residual, const std::optional<PairRotation>& rotation,
                                   std::int64_t kept, bool training, KeyValueCache* cache) const {
  const double dropout = training ? options_.dropout : 0;
  const NormOptions norm = norm_options(options_);
  const auto [stream, normed] = residual_norm(residual.stream, residual.added, attention_norm_, norm);
  const Tensor attended = added_part(attention(normed, rotation, kept, cache), dropout);
  const auto [with_attended, normed_again] = residual_norm(last_positions(stream, kept), attended, norm_, norm);
  return {with_attended, added_part(feed_forward(normed_again), dropout)};
}

Tensor TransformerBlock::attention(const Tensor& normed, const std::optional<PairRotation>& rotation, std::int64_t kept,
                                   KeyValueCache* cache) const {
  const std::vector<Tensor> made = linear_layers(normed, {query_, key_, value_});
  Tensor query = split_heads(made[0], options_.head_width);
  Tensor key = split_heads(made[1], options_.head_width);
  Tensor value = split_heads(made[2], options_.head_width).transpose(1, 2);  // [B, G, T, d]
  if (options_.qk_norm) {
    query = block_norm(options_, query, query_norm_);
    key = block_norm(options_, key, key_norm_);
  }
  if (rotation) {
    query = rotation->turn(query);
    key = rotation->turn(key);
  }
  query = last_positions(query, kept).transpose(1, 2).to(value.scalar_type());
  key = key.transpose(1, 2).to(value.scalar_type());
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
  const Tensor attended =
      causal_attention({.query = query, .key = key, .value = value, .window = window_});  // [B, H, kept, d]
  return linear_layer(attended.transpose(1, 2).reshape({normed.size(0), kept, width_}), out_, {});
}

Tensor TransformerBlock::feed_forward(const Tensor& normed) const {
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

Tensor forward_blocks(const std::vector<TransformerBlock>& blocks, const Tensor& hidden,
                      const std::optional<PairRotation>& rotation, std::int64_t kept, bool training,
                      std::vector<KeyValueCache>* caches) {
  Residual residual{hidden, {}};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    residual = blocks[i].forward(residual, rotation, i + 1 == blocks.size() ? kept : hidden.size(1), training,
                                 caches != nullptr ? &(*caches)[i] : nullptr);
  }
  return residual.added.defined() ? residual.stream + residual.added : residual.stream;
}

Tensor TextEmbedding::of(const Tensor& tokens, std::int64_t first, double dropout) const {
  const std::int64_t length = tokens.size(1);
  Tensor embedded = torch::embedding(symbols, tokens.clamp_min(0));
  embedded = torch::where(tokens.unsqueeze(-1) < 0, beginning, embedded);
  if (positions.defined()) {
    if (first + length > positions.size(0)) {
      throw UsageError(fmt::format("a window of {} tokens is longer than the {} of model.positions", first + length,
                                   positions.size(0)));
    }
    embedded = embedded + positions.narrow(0, first, length);
  }
  return added_part(embedded, dropout);
}

PairRotation::PairRotation(const Tensor& angles, RotatedPairs pairs, torch::ScalarType type)
    : pairs_(pairs), type_(type) {
  const Tensor cos = angles.cos().to(type);
  const Tensor sin = angles.sin().to(type);
  if (pairs == RotatedPairs::kNeighbours) {
    factors_ = torch::complex(cos, sin).unsqueeze(1);
  } else {
    cos_ = cos.unsqueeze(1);
    sin_ = sin.unsqueeze(1);
  }
}

Tensor PairRotation::turn(const Tensor& x) const {
  const torch::ScalarType given = x.scalar_type();
  const Tensor wide = x.to(type_);
  if (pairs_ == RotatedPairs::kNeighbours) {
    const Tensor pairs = torch::view_as_complex(wide.unflatten(-1, {-1, 2}).contiguous());
    return torch::view_as_real(pairs * factors_).flatten(-2).to(given);
  }
  const std::vector<Tensor> halves = wide.chunk(2, -1);
  return torch::cat({halves[0] * cos_ - halves[1] * sin_, halves[1] * cos_ + halves[0] * sin_}, -1).to(given);
}

}  // namespace xlm
