// The block of a modern transformer: attention and a feed-forward, each behind a norm and added to its input.
//
// B batch, T positions of one call, K positions of it and of those before, k width, H heads, G heads of keys and
// values, d head width, F feed-forward units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "core/api/block_options.h"
#include "core/nn/initial_weights.h"

namespace xlm {

/// The pairs of a head of d numbers.
enum class RotatedPairs {
  kNeighbours,  // (2i, 2i + 1)
  kHalves       // (i, i + d/2), as Llama has
};

/// Rotary positions: pairs of numbers of queries and keys turn by angles that grow with the position (Su et al. 2021,
/// §3.2.2). Angles of the pairs at some positions, for all layers.
class PairRotation {
 public:
  /// `angles` [T, d/2] in double, on the device of what is turned; `type` is what is computed in: float or double.
  PairRotation(const torch::Tensor& angles, RotatedPairs pairs, torch::ScalarType type);

  /// x [B, T, n, d], turned and rounded to its type once.
  torch::Tensor turn(const torch::Tensor& x) const;

 private:
  RotatedPairs pairs_;
  torch::ScalarType type_;
  torch::Tensor factors_;    // neighbours: cos + i·sin, complex [T, 1, d/2]
  torch::Tensor cos_, sin_;  // halves: [T, 1, d/2]
};

/// A text's first hidden states: tokens [B, T] → [B, T, k].
struct TextEmbedding {
  torch::Tensor symbols;    // [V, k]
  torch::Tensor beginning;  // [k], of a negative token
  torch::Tensor positions;  // [model.positions, k], or undefined

  /// Of tokens from the position `first` on. Throws UsageError if there are not so many positions.
  torch::Tensor of(const torch::Tensor& tokens, std::int64_t first, double dropout) const;
};

/// Keys and values of positions that were read before: [B, G, K, d].
struct KeyValueCache {
  torch::Tensor keys, values;
};

/// The rotary positions of `options` for `count` positions from `first` on, on the device of `like`; nullopt: none.
std::optional<PairRotation> rotation_of(const BlockOptions& options, std::int64_t first, std::int64_t count,
                                        const torch::Tensor& like);

/// The norm of `options` over the last dimension, ε 1e-5.
torch::Tensor block_norm(const BlockOptions& options, const torch::Tensor& x, const torch::Tensor& scale);

/// The standard deviation of the initial weights of a matrix; `added`: its result is added to the residual stream, by
/// each of `additions` matrices in turn.
double matrix_deviation(const BlockOptions& options, std::int64_t in, bool added, std::int64_t additions);

/// The residual stream between two blocks. The next norm adds the last layer's part to it.
struct Residual {
  torch::Tensor stream;  // [B, T, k]
  torch::Tensor added;   // [B, T, k], or undefined
};

class TransformerBlock {
 public:
  /// `window`: keys that a query sees; 0: all. `layers`: of the model. Parameters are PREFIX.self_attn.q_proj.weight,
  /// … by the names of Hugging Face's Llama.
  TransformerBlock(const DeclareParameter& declare, const std::string& prefix, const BlockOptions& options,
                   std::int64_t width, std::int64_t feed_forward, std::int64_t window, std::int64_t layers);

  /// [B, T, k] → [B, kept, k] of the last `kept` positions. With a cache, its keys and values come first, and those of
  /// this call are added to it. `rotation` is that of these T positions.
  Residual forward(const Residual& residual, const std::optional<PairRotation>& rotation, std::int64_t kept,
                   bool training, KeyValueCache* cache) const;

  /// Multiply-adds for one token that sees `keys` keys on average.
  double multiply_adds(double keys) const;
  /// Keys that a token sees on average in a window of `length` tokens.
  double average_keys(std::int64_t length) const;
  std::int64_t window() const { return window_; }

 private:
  torch::Tensor attention(const torch::Tensor& normed, const std::optional<PairRotation>& rotation, std::int64_t kept,
                          KeyValueCache* cache) const;
  torch::Tensor feed_forward(const torch::Tensor& normed) const;

  BlockOptions options_;
  std::int64_t width_, heads_, key_value_heads_, window_;
  torch::Tensor attention_norm_, query_norm_, key_norm_;  // [k], [d], [d]
  torch::Tensor query_, key_, value_, out_;               // [k, k], [G·d, k], [G·d, k], [k, k]
  torch::Tensor norm_, gate_, up_, down_;                 // [k], [F, k], [F, k], [k, F]
};

/// Hidden states [B, T, k] through all blocks → [B, kept, k] of the last `kept` positions. `caches`, if given, has one
/// for each block.
torch::Tensor forward_blocks(const std::vector<TransformerBlock>& blocks, const torch::Tensor& hidden,
                             const std::optional<PairRotation>& rotation, std::int64_t kept, bool training,
                             std::vector<KeyValueCache>* caches = nullptr);

/// [B, T, …] → [B, count, …]. All positions are x itself: the gradient of a part is a copy.
torch::Tensor last_positions(const torch::Tensor& x, std::int64_t count);

}  // namespace xlm
