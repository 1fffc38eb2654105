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

/// Adagrad's update of all weights at once, in few operations whatever their number: what a GPU is given, where
/// starting an operation costs more than most of them, and reading a number back costs all that was queued. `sums` are
/// the accumulators; `clip_step` is optimizer.clip_step, 0 for none, by norms that stay on the device.
void adagrad_together(const std::vector<torch::Tensor>& weights, const std::vector<torch::Tensor>& gradients,
                      const std::vector<torch::Tensor>& sums, double rate, double clip_step);

/// Adagrad (accumulator from 0, ε 1e-10 after the square root, published step clipping) or Adam (0.9, 0.999, 1e-8).
class Optimizer {
 public:
  /// `weights` are updated in place and must carry gradients when `step` is called.
  Optimizer(OptimizerOptions options, NamedTensors weights);

  /// One update with learning rate `rate`; `number` counts updates from 1. Parameters without a gradient stay.
  void step(double rate, std::int64_t number);
  void zero_gradients();

  /// Accumulators by name, for checkpoints.
  NamedTensors state() const;
  /// Throws DataError when a name or shape does not fit.
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
