// Optimisers over a model's named weights.
#include "core/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "core/train/muon.h"

namespace xlm {
namespace {

using Type = OptimizerOptions::Type;
using Decay = OptimizerOptions::Decay;

constexpr double kAdagradEpsilon = 1e-10;
constexpr double kClipEpsilon = 1e-10;

constexpr double kShareOfMuonsRate = 0.015;  // the published defaults are 3e-4 and 0.02

double or_else(double value, double otherwise) { return value > 0 ? value : otherwise; }

/// Who updates a weight if the optimiser is `type`.
Type type_for(Type type, const std::string& name, const torch::Tensor& weight) {
  return type == Type::kMuon && !is_matrix_of_layer(name, weight) ? Type::kAdamW : type;
}

/// AdamW's learning rate over that of muon's matrices.
double share_of_rate(const OptimizerOptions& options) {
  if (options.adamw_lr > 0) return options.adamw_lr / options.lr;
  return options.adjust_lr == OptimizerOptions::AdjustLr::kMatchRmsAdamW ? 1 : kShareOfMuonsRate;
}

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

Optimizer::Optimizer(OptimizerOptions options, NamedTensors weights, const RateMultiplier& multiplier,
                     const RateMultiplier& part_multiplier)
    : options_(options), weights_(std::move(weights)) {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const auto& [name, weight] = weights_[i];
    const Type type = type_for(options_.type, name, weight);
    const bool has_second = type == Type::kAdam || type == Type::kAdamW;
    first_.push_back(torch::zeros_like(weight.detach()));
    second_.push_back(has_second ? torch::zeros_like(weight.detach()) : torch::Tensor());
    const bool decays =
        type == Type::kMuon || (type == Type::kAdamW && (options_.decay == Decay::kAll || weight.dim() >= 2));
    // The length of Muon's updates does not follow from the gradient: multipliers that follow from a matrix's size do
    // not apply.
    const RateMultiplier& own = type == Type::kMuon ? part_multiplier : multiplier;
    double share = own ? own(name) : 1;
    if (type != options_.type) share *= share_of_rate(options_);
    groups_[{type, share, decays ? options_.weight_decay : 0}].push_back(i);
  }
  if (options_.type == Type::kMuon && (groups_.empty() || groups_.rbegin()->first.type != Type::kMuon)) {
    throw UsageError(
        "this model has no matrix that optimizer.type=muon could update: none of a layer with a number in its name\n"
        "use optimizer.type=adamw");
  }
}

void Optimizer::zero_gradients() {
  for (auto& [name, weight] : weights_) weight.mutable_grad().reset();
}

void Optimizer::step(double rate, std::int64_t number) {
  const torch::NoGradGuard no_grad;
  if (options_.clip_norm > 0) clip_norm();
  for (const auto& [group, members] : groups_) {
    std::vector<std::size_t> present;
    std::copy_if(members.begin(), members.end(), std::back_inserter(present),
                 [this](std::size_t i) { return weights_[i].second.grad().defined(); });
    if (present.empty()) continue;
    switch (group.type) {
      case Type::kAdagrad:
        adagrad(rate * group.multiplier, present);
        break;
      case Type::kMuon:
        muon(rate * group.multiplier, present);
        break;
      case Type::kAdam:
      case Type::kAdamW:
        adam(rate * group.multiplier, group.decay, number, present);
        break;
    }
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

void Optimizer::adagrad(double rate, const std::vector<std::size_t>& members) {
  std::vector<torch::Tensor> weights, gradients, sums;
  for (const std::size_t i : members) {
    weights.push_back(weights_[i].second);
    gradients.push_back(weights_[i].second.grad());
    sums.push_back(first_[i]);
  }
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

void Optimizer::adam(double rate, double decay, std::int64_t number, const std::vector<std::size_t>& members) {
  std::vector<torch::Tensor> weights, gradients, first, second;
  for (const std::size_t i : members) {
    weights.push_back(weights_[i].second);
    gradients.push_back(weights_[i].second.grad().contiguous());
    first.push_back(first_[i]);
    second.push_back(second_[i]);
  }
  const torch::TensorOptions single = torch::TensorOptions().device(weights.front().device());
  const std::vector<torch::Tensor> steps(weights.size(), torch::full({}, static_cast<double>(number), single));
  const double beta1 = or_else(options_.beta1, 0.9);
  const double beta2 = or_else(options_.beta2, 0.999);
  const double epsilon = or_else(options_.epsilon, 1e-8);
  if (options_.type != Type::kAdam) {
    at::_fused_adamw_(weights, gradients, first, second, {}, steps, rate, beta1, beta2, decay, epsilon, false, false);
  } else {
    at::_fused_adam_(weights, gradients, first, second, {}, steps, rate, beta1, beta2, 0, epsilon, false, false);
  }
}

void Optimizer::muon(double rate, const std::vector<std::size_t>& members) {
  std::vector<torch::Tensor> weights, gradients, averages;
  for (const std::size_t i : members) {
    weights.push_back(weights_[i].second);
    gradients.push_back(weights_[i].second.grad());
    averages.push_back(first_[i]);
  }
  muon_together(weights, gradients, averages, rate, options_);
}

NamedTensors Optimizer::state() const {
  NamedTensors state;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    state.emplace_back("optimizer.first." + weights_[i].first, first_[i]);
    if (second_[i].defined()) state.emplace_back("optimizer.second." + weights_[i].first, second_[i]);
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
