// The boundary predictor of dynamic pooling and what it learns from (Nawrot et al. 2023, §3.1 and §3.3;
// docs/models.md#what-teaches-the-predictor).
//
// B batch, T tokens, D width, F units, V symbols.
#pragma once

#include <cstdint>
#include <string>

#include <torch/torch.h>

#include "core/nn/declare.h"

namespace xlm {

/// D → F → 1 with GELU, as boundary_predictor.boundary_predictor.{0,2}.
class BoundaryPredictor {
 public:
  BoundaryPredictor() = default;
  BoundaryPredictor(const DeclareParameter& declare, std::int64_t width, std::int64_t units);

  /// Logits of a boundary after each token: hidden [B, T, D] → [B, T].
  torch::Tensor logits(const torch::Tensor& hidden) const;

 private:
  torch::Tensor inner_weight_, inner_bias_, outer_weight_, outer_bias_;  // [F, D], [F], [1, F], [1]
};

/// 1 where the sigmoid of a logit exceeds one half, of the logits' type: [B, T]. Carries no gradient.
torch::Tensor hard_boundaries(const torch::Tensor& logits);

/// A relaxed Bernoulli sample at `temperature`, hard by straight-through: 0 or 1 in value, the soft sample's gradient.
/// The uniform noise comes from libtorch's generator on the CPU, one number per element of the whole batch in order, of
/// which the rows that are computed have theirs: [B, T]. The generator goes on as after one draw_seed. Probability and
/// noise are clamped to [ε, 1 − ε] of the logits' type, as torch's relaxed Bernoulli does: beyond, a logit has no
/// gradient.
torch::Tensor gumbel_boundaries(const torch::Tensor& logits, double temperature);

/// Binary cross-entropy, the mean over all elements. `published`: the probability stands where the logit belongs, so
/// that the sigmoid is applied twice, as in the published program.
torch::Tensor boundary_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets, bool published);

/// −log Binomial(n; T, prior) / T with n the boundaries of a row, averaged over the rows: a scalar. Differentiable in
/// the boundaries [B, T].
torch::Tensor binomial_prior_loss(const torch::Tensor& boundaries, double prior);

/// Entropy of the predictions, in nats: logits [B, T, V] → [B, T], float32 at least. Carries no gradient.
torch::Tensor predictive_entropy(const torch::Tensor& logits);

/// True where the entropy of the prediction exceeds that of each of the `window` tokens before; tokens before the
/// first do not count: logits [B, T, V] → [B, T] bool. Carries no gradient.
torch::Tensor entropy_spikes(const torch::Tensor& logits, std::int64_t window);

}  // namespace xlm
