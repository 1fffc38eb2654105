// The block of a modern transformer: attention and a feed-forward, each behind a norm and added to its input.
//
// B batch, T positions of one call, K positions of it and of those before, k width, H heads, G heads of keys and
// values, d head width, F feed-forward units.
#pragma once

#include <cstdint>
#include <string>

#include <torch/torch.h>

#include "core/api/block_options.h"
#include "core/nn/declare.h"

namespace xlm {

/// Keys and values of positions that were read before: [B, G, K, d].
struct KeyValueCache {
  torch::Tensor keys, values;
};

/// Turns pairs of numbers of queries and keys by angles that grow with the position (Su et al. 2021, §3.2.2).
class Rotation {
 public:
  /// For `count` positions from `first` on, in the type and on the device of `like`.
  Rotation(const BlockOptions& options, std::int64_t first, std::int64_t count, const torch::Tensor& like);

  /// x [B, T, n, d], turned.
  torch::Tensor turn(const torch::Tensor& x) const;

 private:
  BlockOptions::Rotary rotary_;
  torch::Tensor factors_;    // neighbours: cos + i·sin, complex [T, 1, d/2]
  torch::Tensor cos_, sin_;  // halves: [T, 1, d/2]
};

/// The norm of `options` over the last dimension, ε 1e-5.
torch::Tensor block_norm(const BlockOptions& options, const torch::Tensor& x, const torch::Tensor& scale);

/// The standard deviation of the initial weights of a matrix; `added`: its result is added to the residual stream, by
/// each of `additions` matrices in turn.
double matrix_deviation(const BlockOptions& options, std::int64_t in, bool added, std::int64_t additions);

class TransformerBlock {
 public:
  /// `window`: keys that a query sees; 0: all. `layers`: of the model. Parameters are PREFIX.self_attn.q_proj.weight,
  /// … by the names of Hugging Face's Llama.
  TransformerBlock(const DeclareParameter& declare, const std::string& prefix, const BlockOptions& options,
                   std::int64_t width, std::int64_t feed_forward, std::int64_t window, std::int64_t layers);

  /// [B, T, k] → [B, kept, k] of the last `kept` positions. With a cache, its keys and values come first, and those of
  /// this call are added to it. `rotation` is that of these T positions.
  torch::Tensor forward(const torch::Tensor& hidden, const Rotation& rotation, std::int64_t kept, bool training,
                        KeyValueCache* cache) const;

  /// Multiply-adds for one token that sees `keys` keys on average.
  double multiply_adds(double keys) const;
  /// Keys that a token sees on average in a window of `length` tokens.
  double average_keys(std::int64_t length) const;
  std::int64_t window() const { return window_; }

 private:
  torch::Tensor attention(const torch::Tensor& hidden, const Rotation& rotation, std::int64_t kept,
                          KeyValueCache* cache) const;
  torch::Tensor feed_forward(const torch::Tensor& hidden) const;

  BlockOptions options_;
  std::int64_t width_, heads_, key_value_heads_, window_;
  torch::Tensor attention_norm_, query_norm_, key_norm_;  // [k], [d], [d]
  torch::Tensor query_, key_, value_, out_;               // [k, k], [G·d, k], [G·d, k], [k, k]
  torch::Tensor norm_, gate_, up_, down_;                 // [k], [F, k], [F, k], [k, F]
};

}  // namespace xlm
