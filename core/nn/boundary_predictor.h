// The boundary predictor of dynamic pooling and its losses (Nawrot et al. 2023, §3.1 and §3.3;
// experiments/recipes/dynamic-pooling/README.md#what-teaches-the-predictor).
//
// B batch, T tokens, D width, F units, V symbols.
#pragma once

#include <cstdint>
#include <string>

#include <torch/torch.h>

#include "core/nn/initial_weights.h"

namespace xlm {

/// D → F → 1 with GELU, as PREFIX.{0,2}.
class BoundaryPredictor {
 public:
  BoundaryPredictor() = default;
  BoundaryPredictor(const DeclareParameter& declare, const std::string& prefix, std::int64_t width, std::int64_t units);

  /// Logits of a boundary after each token: hidden [B, T, D] → [B, T].
  torch::Tensor logits(const torch::Tensor& hidden) const;
  /// Multiply-adds for one token.
  double multiply_adds() const;

 private:
  torch::Tensor inner_weight_, inner_bias_, outer_weight_, outer_bias_;  // [F, D], [F], [1, F], [1]
};

/// 1 if the sigmoid of a logit exceeds one half, else 0, in the type of the logits: [B, T]. Has no gradient.
torch::Tensor hard_boundaries(const torch::Tensor& logits);

/// A relaxed Bernoulli sample at `temperature`, hard by straight-through: the value is 0 or 1, the gradient that of the
/// soft sample: [B, T]. `noise` is uniform; undefined: it is drawn now. The generator advances as by one draw_seed.
/// Probability and noise are clamped to [ε, 1 − ε] of the logits' type, as in torch's relaxed Bernoulli: outside, a
/// logit has no gradient.
torch::Tensor gumbel_boundaries(const torch::Tensor& logits, double temperature, const torch::Tensor& noise = {});

/// Uniform numbers for the rows of the batch that this thread computes: [rows, length], on the CPU, where they are the
/// same for every kind of device; one per element of the whole batch, in order. They come from a copy of libtorch's
/// generator.
torch::Tensor uniform_noise(std::int64_t rows, std::int64_t length, torch::ScalarType type);

/// Binary cross-entropy, the mean over all elements. `published`: the probability is used as the logit, so that the
/// sigmoid is applied twice, as in the published program.
torch::Tensor boundary_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets, bool published);

/// −log Binomial(n; T, prior) / T with n the boundaries of a row, averaged over the rows: a scalar. Differentiable in
/// the boundaries [B, T].
torch::Tensor binomial_prior_loss(const torch::Tensor& boundaries, double prior);

/// How far the share of boundaries of a row lies outside [lowest, highest], averaged over the rows: a scalar
/// (Owodunni et al. 2025). Differentiable in the boundaries [B, T]; within the range, its ends included, the gradient
/// is 0.
torch::Tensor range_prior_loss(const torch::Tensor& boundaries, double lowest, double highest);

/// Entropy of the predictions, in nats: logits [B, T, V] → [B, T], at least float32. Has no gradient.
torch::Tensor predictive_entropy(const torch::Tensor& logits);

/// True if the entropy of the prediction exceeds that of each of the `window` tokens before; tokens before the first do
/// not count: logits [B, T, V] → [B, T] bool. Has no gradient.
torch::Tensor entropy_spikes(const torch::Tensor& logits, std::int64_t window);

}  // namespace xlm
