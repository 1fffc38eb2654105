// Optimisers over a model's named weights, with learning-rate schedules and clipping.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "core/api/options.h"
#include "core/runtime/safetensors.h"

namespace xlm {

/// The learning rate of `step`, counted from 1: lr · min(1, step / warm-up), then constant, or
/// ½·lr·(1 + cos(π(n − W)/(N − W))) with n the step, W the warm-up and N all steps (docs/models.md#optimisers).
double learning_rate(const OptimizerOptions& options, std::int64_t step, std::int64_t steps);

/// Adagrad's update for a GPU: few operations, whatever the number of weights, because starting one takes longer than
/// most of them run. Norms stay on the device, because reading them waits for all queued work. `sums` are the
/// accumulators. `clip_step` is optimizer.clip_step, 0 for none.
void adagrad_together(const std::vector<torch::Tensor>& weights, const std::vector<torch::Tensor>& gradients,
                      const std::vector<torch::Tensor>& sums, double rate, double clip_step);

/// Adagrad (accumulator from 0, ε 1e-10 after the square root, published step clipping) or Adam (0.9, 0.999, 1e-8).
class Optimizer {
 public:
  /// `step` updates `weights` in place by their gradients.
  Optimizer(OptimizerOptions options, NamedTensors weights);

  /// One update with learning rate `rate`; `number` counts updates from 1. Weights without a gradient stay.
  void step(double rate, std::int64_t number);
  void zero_gradients();

  /// Accumulators by name, for checkpoints.
  NamedTensors state() const;
  /// Throws DataError if a name is missing or a shape differs.
  void restore(const NamedTensors& state, const std::string& source);

 private:
  void adagrad(double rate);
  void adam(double rate, std::int64_t number);
  void clip_norm();

  OptimizerOptions options_;
  NamedTensors weights_;
  std::vector<torch::Tensor> first_;   // sum of squares (adagrad) or first moment (adam)
  std::vector<torch::Tensor> second_;  // second moment (adam)
};

}  // namespace xlm
