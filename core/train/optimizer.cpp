// Optimisers over a model's named weights.
#include "core/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include <fmt/format.h>

#include "base/error.h"

namespace xlm {
namespace {

constexpr double kAdagradEpsilon = 1e-10;
constexpr double kClipEpsilon = 1e-10;
constexpr double kAdamEpsilon = 1e-8;
constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;

}  // namespace

void adagrad_together(const std::vector<torch::Tensor>& weights, const std::vector<torch::Tensor>& gradients,
                      const std::vector<torch::Tensor>& sums, double rate, double clip_step) {
  torch::_foreach_addcmul_(sums, gradients, gradients);
  const std::vector<torch::Tensor> scales = torch::_foreach_sqrt(sums);
  torch::_foreach_add_(scales, kAdagradEpsilon);
  if (clip_step <= 0) {
    torch::_foreach_addcdiv_(weights, gradients, scales, -rate);
    return;
  }
  const torch::Tensor norms = torch::stack(torch::_foreach_norm(gradients));
  const torch::Tensor steps = (clip_step / (norms + kClipEpsilon)).clamp_max_(1).mul_(-rate);  // one for each weight
  const std::vector<torch::Tensor> updates = torch::_foreach_div(gradients, scales);
  torch::_foreach_mul_(updates, steps.unbind());
  torch::_foreach_add_(weights, updates);
}

double learning_rate(const OptimizerOptions& options, std::int64_t step, std::int64_t steps) {
  if (options.drop_after > 0 && step > options.drop_after) {
    OptimizerOptions undropped = options;
    undropped.drop_after = 0;
    return options.drop_factor * learning_rate(undropped, step, steps);
  }
  const auto n = static_cast<double>(step);
  const auto warmup = static_cast<double>(options.warmup_steps);
  if (step < options.warmup_steps) return options.lr * n / warmup;
  if (options.schedule == OptimizerOptions::Schedule::kConstant) return options.lr;
  const double rest = std::max(1.0, static_cast<double>(steps) - warmup);
  return 0.5 * options.lr * (1 + std::cos(std::numbers::pi * (n - warmup) / rest));
}

Optimizer::Optimizer(OptimizerOptions options, NamedTensors weights) : options_(options), weights_(std::move(weights)) {
  for (const auto& [name, weight] : weights_) {
    first_.push_back(torch::zeros_like(weight.detach()));
    if (options_.type == OptimizerOptions::Type::kAdam) second_.push_back(torch::zeros_like(weight.detach()));
  }
}

void Optimizer::zero_gradients() {
  for (auto& [name, weight] : weights_) weight.mutable_grad().reset();
}

void Optimizer::step(double rate, std::int64_t number) {
  const torch::NoGradGuard no_grad;
  if (options_.clip_norm > 0) clip_norm();
  if (options_.type == OptimizerOptions::Type::kAdagrad) {
    adagrad(rate);
  } else {
    adam(rate, number);
  }
}

void Optimizer::clip_norm() {
  std::vector<torch::Tensor> gradients;
  for (const auto& [name, weight] : weights_) {
    if (weight.grad().defined()) gradients.push_back(weight.grad());
  }
  if (gradients.empty()) return;
  std::vector<torch::Tensor> norms = torch::_foreach_norm(gradients);
  const torch::Tensor norm = torch::stack(norms).norm();
  // A limit above the largest float is taken as that float.
  const double limit = std::min<double>(options_.clip_norm, std::numeric_limits<float>::max());
  const torch::Tensor factor = (limit / (norm + 1e-6)).clamp_max(1.0);
  torch::_foreach_mul_(gradients, factor);
}

void Optimizer::adagrad(double rate) {
  std::vector<torch::Tensor> weights, gradients, sums;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const torch::Tensor& gradient = weights_[i].second.grad();
    if (!gradient.defined()) continue;
    weights.push_back(weights_[i].second);
    gradients.push_back(gradient);
    sums.push_back(first_[i]);
  }
  if (gradients.empty()) return;
  // The step is scaled, not the gradient: the accumulator sees the gradient as it is (docs/models.md#optimisers).
  if (!gradients.front().is_cpu()) {
    adagrad_together(weights, gradients, sums, rate, options_.clip_step);
    return;
  }
  std::vector<double> rates(gradients.size(), rate);
  if (options_.clip_step > 0) {
    const torch::Tensor norms = torch::stack(torch::_foreach_norm(gradients)).to(torch::kDouble);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      rates[i] *= std::min(1.0, options_.clip_step / (norms.data_ptr<double>()[i] + kClipEpsilon));
    }
  }
  // One pass over each weight. The step count only matters if the rate decays, and that decay is 0 here.
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    at::_fused_adagrad_({weights[i]}, {gradients[i]}, {sums[i]}, {torch::ones({})}, rates[i], 0, 0, kAdagradEpsilon,
                        false);
  }
}

void Optimizer::adam(double rate, std::int64_t number) {
  std::vector<torch::Tensor> weights, gradients, first, second;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const torch::Tensor& gradient = weights_[i].second.grad();
    if (!gradient.defined()) continue;
    weights.push_back(weights_[i].second);
    gradients.push_back(gradient.contiguous());
    first.push_back(first_[i]);
    second.push_back(second_[i]);
  }
  if (weights.empty()) return;
  const torch::TensorOptions single = torch::TensorOptions().device(weights.front().device());
  const std::vector<torch::Tensor> steps(weights.size(), torch::full({}, static_cast<double>(number), single));
  at::_fused_adam_(weights, gradients, first, second, {}, steps, rate, kBeta1, kBeta2, 0, kAdamEpsilon, false, false);
}

NamedTensors Optimizer::state() const {
  NamedTensors state;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    state.emplace_back("optimizer.first." + weights_[i].first, first_[i]);
    if (!second_.empty()) state.emplace_back("optimizer.second." + weights_[i].first, second_[i]);
  }
  return state;
}

void Optimizer::restore(const NamedTensors& state, const std::string& source) {
  const torch::NoGradGuard no_grad;
  const std::map<std::string, torch::Tensor> by_name(state.begin(), state.end());
  for (auto& [name, tensor] : this->state()) {
    const auto found = by_name.find(name);
    if (found == by_name.end() || found->second.sizes() != tensor.sizes()) {
      throw DataError(fmt::format("{}: '{}' is missing or has another shape", source, name));
    }
    tensor.copy_(found->second);
  }
}

}  // namespace xlm
