// Muon's update of matrices.
//
// n matrices of equal shape, r rows, c columns, m = min(r, c).
#include "core/train/muon.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/train/weight_names.h"

namespace xlm {
namespace {

constexpr double kMomentum = 0.95;
constexpr std::int64_t kNewtonSchulzSteps = 5;
constexpr double kNormEpsilonOfMuon = 1e-7;
constexpr double kRmsOfAdamW = 0.2;  // root mean square of a usual update of AdamW at rate 1

// s → a·s + b·s³ + c·s⁵ of every singular value, steep at 0.
constexpr double kLinear = 3.4445;
constexpr double kCubic = -4.7750;
constexpr double kQuintic = 2.0315;

}  // namespace

bool is_matrix_of_layer(const std::string& name, const torch::Tensor& weight) {
  if (weight.dim() != 2 || weight.size(0) < 2 || weight.size(1) < 2) return false;
  return is_of_numbered_layer(name);
}

torch::Tensor orthogonalized(const torch::Tensor& matrices, std::int64_t steps) {
  const bool tall = matrices.size(1) > matrices.size(2);
  torch::Tensor x = tall ? matrices.transpose(1, 2) : matrices;  // [n, m, max(r, c)]: the products are the smaller ones
  x = x / (torch::linalg_vector_norm(x, 2, {1, 2}, true) + kNormEpsilonOfMuon);
  for (std::int64_t i = 0; i < steps; ++i) {
    const torch::Tensor square = torch::bmm(x, x.transpose(1, 2));                          // [n, m, m]
    const torch::Tensor factor = torch::baddbmm(square, square, square, kCubic, kQuintic);  // [n, m, m]
    x = torch::baddbmm(x, factor, x, kLinear, 1);
  }
  return tall ? x.transpose(1, 2) : x;
}

double muon_scale(OptimizerOptions::AdjustLr adjust, std::int64_t rows, std::int64_t columns) {
  const auto r = static_cast<double>(rows);
  const auto c = static_cast<double>(columns);
  switch (adjust) {
    case OptimizerOptions::AdjustLr::kMatchRmsAdamW:
      return kRmsOfAdamW * std::sqrt(std::max(r, c));
    case OptimizerOptions::AdjustLr::kOriginal:
      break;
  }
  return std::sqrt(std::max(1.0, r / c));
}

void muon_together(const std::vector<torch::Tensor>& weights, const std::vector<torch::Tensor>& gradients,
                   const std::vector<torch::Tensor>& averages, double rate, const OptimizerOptions& options) {
  const double momentum = options.momentum > 0 ? options.momentum : kMomentum;
  const std::int64_t steps = options.ns_steps > 0 ? options.ns_steps : kNewtonSchulzSteps;
  torch::_foreach_lerp_(averages, gradients, 1 - momentum);
  // Nesterov: the average as it would be after the same gradient once more.
  const std::vector<torch::Tensor> ahead = torch::_foreach_lerp(gradients, averages, momentum);
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> by_shape;
  for (std::size_t i = 0; i < ahead.size(); ++i) by_shape[{ahead[i].size(0), ahead[i].size(1)}].push_back(i);
  for (const auto& [shape, members] : by_shape) {
    std::vector<torch::Tensor> together, own;
    for (const std::size_t i : members) {
      together.push_back(ahead[i]);
      own.push_back(weights[i]);
    }
    const torch::Tensor updates = orthogonalized(torch::stack(together), steps);  // [n, r, c]
    if (options.weight_decay > 0) torch::_foreach_mul_(own, 1 - rate * options.weight_decay);
    torch::_foreach_add_(own, updates.unbind(), -rate * muon_scale(options.adjust_lr, shape.first, shape.second));
  }
}

}  // namespace xlm
