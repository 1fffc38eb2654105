// The recurrence of GPT-2.
#include "core/nn/pooled_state.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/kernels/step_weights.h"
#include "core/nn/initial_weights.h"

namespace xlm {

using torch::Tensor;

PooledState::PooledState(const DeclareParameter& declare, RecurrenceOptions options, std::int64_t layers,
                         std::int64_t width, double deviation)
    : options_(std::move(options)), layers_(layers), width_(width) {
  alpha_ = declare("recurrence.alpha", torch::zeros({layers}));
  if (options_.pool == RecurrenceOptions::Pool::kAttention) {
    key_ = declare("recurrence.key", normal_weights({width}, deviation));
  }
  std::vector<std::int64_t> units{width};
  units.insert(units.end(), options_.hidden.begin(), options_.hidden.end());
  units.push_back(width * options_.embeddings);
  for (std::size_t i = 0; i + 1 < units.size(); ++i) {
    const std::string name = fmt::format("recurrence.ff.{}", 2 * i);  // a ReLU lies between
    maps_.push_back({declare(name + ".weight", normal_weights({units[i + 1], units[i]}, deviation)),
                     declare(name + ".bias", torch::zeros({units[i + 1]}))});
  }
}

bool PooledState::enters(std::int64_t layer) const {
  return options_.insert_layer == 0 || layer + 1 == options_.insert_layer;
}

Tensor PooledState::share(const Tensor& hidden, std::int64_t layer) const {
  return hidden * torch::softmax(alpha_, 0).select(0, layer);
}

void PooledState::Mixture::add(const Tensor& hidden, std::int64_t layer) {
  const bool means = pooled_->options_.pool == RecurrenceOptions::Pool::kMean;
  if (means && at_once_) {
    layers_.push_back(hidden);
    return;
  }
  const Tensor seen = hidden.narrow(1, 0, positions_);
  const Tensor part = pooled_->share(means ? seen.mean(1, true) : seen, layer);
  sum_ = sum_.defined() ? sum_ + part : part;
}

Tensor PooledState::Mixture::mixed() const {
  if (layers_.empty()) return sum_;
  const Tensor means = torch::stack(layers_, 1).narrow(2, 0, positions_).mean(2);             // [B, L, k]
  return (means * torch::softmax(pooled_->alpha_, 0).unsqueeze(1)).sum(1, /*keepdim=*/true);  // [B, 1, k]
}

Tensor PooledState::hand_over(const Tensor& mixed) const {
  using Pool = RecurrenceOptions::Pool;
  Tensor z;  // [B, k]
  switch (options_.pool) {
    case Pool::kMax:
      z = mixed.amax(1);
      break;
    case Pool::kAttention: {
      const Tensor scores = torch::matmul(mixed, key_) / std::sqrt(static_cast<double>(width_));  // [B, T]
      z = torch::matmul(torch::softmax(scores, 1).unsqueeze(1), mixed).squeeze(1);
      break;
    }
    case Pool::kNone:
    case Pool::kMean:
      z = mixed.mean(1);
      break;
  }
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    if (i > 0) z = torch::relu(z);
    StepWeights* shared = StepWeights::current();
    z = shared != nullptr ? shared->affine(z, maps_[i].weight, maps_[i].bias, /*out_first=*/true)
                          : torch::linear(z, maps_[i].weight, maps_[i].bias);
  }
  return z.view({z.size(0), options_.embeddings, width_});
}

double PooledState::flops_per_token(double window) const {
  const auto width = static_cast<double>(width_);
  double of_window = 0;
  for (const Map& map : maps_) of_window += 2 * static_cast<double>(map.weight.numel());
  double insertions = 0;  // E keys and values more in a layer, which every query sees
  for (std::int64_t i = 0; i < layers_; ++i) insertions += enters(i) ? 1 : 0;
  insertions *= static_cast<double>(options_.embeddings);
  of_window += insertions * 4 * width * width;
  const double of_token = 2 * static_cast<double>(layers_) * width + insertions * 4 * width;
  return of_token + of_window / window;
}

}  // namespace xlm
