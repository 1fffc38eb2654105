// The recurrence of GPT-2: hidden states of a window, pooled for the next (Yoshida et al. 2020, §3.1;
// experiments/recipes/recurrence/README.md#what-a-window-hands-on).
//
// B batch, T tokens of a window, E embeddings passed on, L layers, k width.
#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "core/api/gpt2_options.h"
#include "core/nn/initial_weights.h"

namespace xlm {

class PooledState {
 public:
  PooledState() = default;
  /// Declares `recurrence.alpha`, `recurrence.key` (attention) and `recurrence.ff.N`. Matrices are drawn from
  /// N(0, deviation).
  PooledState(const DeclareParameter& declare, RecurrenceOptions options, std::int64_t layers, std::int64_t width,
              double deviation);

  /// Whether the layer, counted from 0, sees the embeddings as further keys and values.
  bool enters(std::int64_t layer) const;

  /// softmax(α)_ℓ h^(ℓ), a layer's share of what is pooled, of its hidden states: [B, T, k].
  torch::Tensor share(const torch::Tensor& hidden, std::int64_t layer) const;
  /// Adds up the shares of a window's layers.
  class Mixture {
   public:
    /// Of the first `positions` of each layer. `at_once`: means are made of all layers together, which takes a GPU
    /// fewer operations.
    Mixture(const PooledState& pooled, std::int64_t positions, bool at_once)
        : pooled_(&pooled), positions_(positions), at_once_(at_once) {}
    /// The hidden states [B, T, k] of the next layer.
    void add(const torch::Tensor& hidden, std::int64_t layer);
    /// Of the positions: [B, positions, k]; for mean pooling their means, [B, 1, k].
    torch::Tensor mixed() const;

   private:
    const PooledState* pooled_;
    std::int64_t positions_;
    bool at_once_;
    torch::Tensor sum_;
    std::vector<torch::Tensor> layers_;  // for means that are made at once
  };
  /// h_prev [B, E, k] of the mixed hidden states [B, T, k] (Yoshida et al. 2020, §3.1, eq. 1).
  torch::Tensor hand_over(const torch::Tensor& mixed) const;

  /// Its own FLOPs for a token of a window of `window` tokens, two per multiply-add.
  double flops_per_token(double window) const;

 private:
  RecurrenceOptions options_;
  std::int64_t layers_ = 0;
  std::int64_t width_ = 0;
  torch::Tensor alpha_;  // [L]
  torch::Tensor key_;    // [k]
  struct Map {
    torch::Tensor weight, bias;  // [out, in], [out]
  };
  std::vector<Map> maps_;
};

}  // namespace xlm
