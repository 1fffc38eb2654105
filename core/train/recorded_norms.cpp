// Norms of gradients, weights and updates of a step.
#include "core/train/recorded_norms.h"

#include <algorithm>
#include <cmath>

#include "core/train/weight_names.h"

namespace xlm {

RecordedNorms::RecordedNorms(NamedTensors weights) : weights_(std::move(weights)) {}

void RecordedNorms::before_step() {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> gradients;
  before_.clear();
  for (const auto& [name, weight] : weights_) {
    const torch::Tensor& gradient = weight.grad();
    gradients.push_back(gradient.defined() ? gradient : torch::zeros({1}, weight.options()));
    before_.push_back(weight.detach().clone());
  }
  values_.clear();
  add("gradient_norm", gradients, values_);
}

NamedValues RecordedNorms::after_step() {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> now;
  for (const auto& [name, weight] : weights_) now.push_back(weight.detach());
  add("weight_norm", now, values_);
  add("update_norm", torch::_foreach_sub(now, before_), values_);
  before_.clear();
  return values_;
}

/// One tensor for each weight. They are read from the device at once.
void RecordedNorms::add(const std::string& name, const std::vector<torch::Tensor>& tensors, NamedValues& values) const {
  const torch::Tensor norms = torch::stack(torch::_foreach_norm(tensors)).to(torch::kDouble).cpu();
  std::map<std::string, double> squares;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const double square = std::pow(norms.data_ptr<double>()[i], 2);
    std::string layer = layer_of(weights_[i].first);
    std::ranges::replace(layer, '.', '/');  // a dot would separate a split from its metric
    squares[name] += square;
    squares[name + "/" + layer] += square;
  }
  for (const auto& [key, square] : squares) values[key] = std::sqrt(square);
}

}  // namespace xlm
