// The boundary predictor, its samples and its losses.
#include "core/nn/boundary_predictor.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/CPUGeneratorImpl.h>

#include "core/kernels/clamp.h"
#include "core/kernels/dropout.h"
#include "core/kernels/linear.h"
#include "core/kernels/step_context.h"
#include "core/nn/transformer_xl.h"

namespace xlm {
namespace {

using torch::Tensor;

/// Probabilities and noise in [ε, 1 − ε] of the type that they run in, as torch's relaxed Bernoulli clamps both.
Tensor clamp_probability(const Tensor& x) {
  const auto epsilon = [&]() -> double {
    switch (x.scalar_type()) {
      case torch::kDouble:
        return std::numeric_limits<double>::epsilon();
      case torch::kBFloat16:
        return std::numeric_limits<c10::BFloat16>::epsilon();
      case torch::kHalf:
        return std::numeric_limits<c10::Half>::epsilon();
      default:
        return std::numeric_limits<float>::epsilon();
    }
  }();
  return clamp_with_corners(x, epsilon, 1 - epsilon);
}

Tensor log_odds(const Tensor& probability) { return probability.log() - (-probability).log1p(); }

}  // namespace

BoundaryPredictor::BoundaryPredictor(const DeclareParameter& declare, const std::string& prefix, std::int64_t width,
                                     std::int64_t units) {
  declare_affine(declare, prefix + ".0", units, width, inner_weight_, inner_bias_);
  declare_affine(declare, prefix + ".2", 1, units, outer_weight_, outer_bias_);
}

double BoundaryPredictor::multiply_adds() const {
  return static_cast<double>(inner_weight_.numel() + outer_weight_.numel());
}

Tensor BoundaryPredictor::logits(const Tensor& hidden) const {
  const Tensor inner = torch::gelu(linear_layer(hidden, inner_weight_, inner_bias_));                // [B, T, F]
  return linear_layer(inner, outer_weight_, outer_bias_).squeeze(-1).to(outer_bias_.scalar_type());  // [B, T]
}

Tensor hard_boundaries(const Tensor& logits) {
  return (torch::sigmoid(logits.detach()) > 0.5).to(logits.scalar_type());
}

Tensor uniform_noise(std::int64_t rows, std::int64_t length, torch::ScalarType type) {
  const at::Generator shared = at::detail::getDefaultCPUGenerator();
  const at::Generator generator = shared.clone();
  const std::int64_t first = step_context().first_row;
  const auto drawn = type == torch::kDouble ? torch::kDouble : torch::kFloat;
  return torch::rand({first + rows, length}, generator, drawn).narrow(0, first, rows);
}

Tensor gumbel_boundaries(const Tensor& logits, double temperature, const Tensor& noise) {
  Tensor uniform = noise;
  if (!uniform.defined()) uniform = uniform_noise(logits.size(0), logits.size(1), logits.scalar_type());
  draw_seed();  // so that later draws do not depend on their number
  uniform = clamp_probability(uniform.to(logits.device(), logits.scalar_type(), /*non_blocking=*/true));
  const Tensor probability = clamp_probability(torch::sigmoid(logits));
  const Tensor soft = torch::sigmoid((log_odds(probability) + log_odds(uniform)) / temperature);
  const Tensor hard = (soft.detach() > 0.5).to(soft.scalar_type());
  return hard + (soft - soft.detach());  // the value of the bracket is exactly 0
}

Tensor boundary_cross_entropy(const Tensor& logits, const Tensor& targets, bool published) {
  return torch::binary_cross_entropy_with_logits(published ? torch::sigmoid(logits) : logits,
                                                 targets.to(logits.scalar_type()));
}

Tensor binomial_prior_loss(const Tensor& boundaries, double prior) {
  const auto length = static_cast<double>(boundaries.size(1));
  const Tensor ones = boundaries.sum(1);  // [B]
  const Tensor log_probability = std::lgamma(length + 1) - torch::lgamma(ones + 1) - torch::lgamma(length - ones + 1) +
                                 ones * std::log(prior) + (length - ones) * std::log1p(-prior);
  return -log_probability.mean() / length;
}

Tensor range_prior_loss(const Tensor& boundaries, double lowest, double highest) {
  const Tensor share = boundaries.mean(1);  // [B]
  return (torch::relu(share - highest) + torch::relu(lowest - share)).mean();
}

Tensor predictive_entropy(const Tensor& logits) {
  const torch::NoGradGuard no_grad;
  const Tensor wide = logits.scalar_type() == torch::kDouble ? logits : logits.to(torch::kFloat);
  const Tensor log_probabilities = torch::log_softmax(wide, -1);  // [B, T, V]
  return -(log_probabilities * log_probabilities.exp()).sum(-1);  // [B, T]
}

Tensor entropy_spikes(const Tensor& logits, std::int64_t window) {
  const Tensor entropy = predictive_entropy(logits);                                    // [B, T]
  Tensor spikes = torch::ones(entropy.sizes(), entropy.options().dtype(torch::kBool));  // [B, T]
  for (std::int64_t back = 1; back <= std::min(window, entropy.size(1) - 1); ++back) {
    const std::int64_t rest = entropy.size(1) - back;
    spikes.narrow(1, back, rest).logical_and_(entropy.narrow(1, back, rest) > entropy.narrow(1, 0, rest));
  }
  return spikes;
}

}  // namespace xlm
