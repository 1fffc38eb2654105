// Optimisers over a model's named weights, with clipping (docs/models.md#optimisers).
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <torch/torch.h>

#include "core/api/options.h"
#include "core/runtime/safetensors.h"

namespace xlm {

/// Adagrad's update for a GPU: few operations, whatever the number of weights, because starting one takes longer than
/// most of them run. Norms stay on the device, because reading them waits for all queued work. `sums` are the
/// accumulators. `clip_step` is optimizer.clip_step, 0 for none.
void adagrad_together(const std::vector<torch::Tensor>& weights, const std::vector<torch::Tensor>& gradients,
                      const std::vector<torch::Tensor>& sums, double rate, double clip_step);

/// What the learning rate of a parameter is multiplied by (HasRateMultipliers).
using RateMultiplier = std::function<double(const std::string& name)>;

/// Adagrad (accumulator from 0, ε 1e-10 after the square root, published step clipping), Adam, AdamW, or Muon for the
/// matrices of layers with AdamW for the rest.
class Optimizer {
 public:
  /// `step` updates `weights` in place by their gradients. Without `multiplier` all have the same learning rate; Muon's
  /// matrices have those of `part_multiplier`, which do not follow from sizes. Throws UsageError if none of them is a
  /// matrix for Muon.
  Optimizer(OptimizerOptions options, NamedTensors weights, const RateMultiplier& multiplier = {},
            const RateMultiplier& part_multiplier = {});

  /// One update with learning rate `rate`; `number` counts updates from 1. Weights without a gradient stay.
  void step(double rate, std::int64_t number);
  void zero_gradients();

  /// Accumulators by name, for checkpoints.
  NamedTensors state() const;
  /// Throws DataError if a name is missing or a shape differs.
  void restore(const NamedTensors& state, const std::string& source);

 private:
  /// Weights that have these in common.
  struct Group {
    OptimizerOptions::Type type;
    double multiplier;
    double decay;  // λ
    auto operator<=>(const Group&) const = default;
  };

  void adagrad(double rate, const std::vector<std::size_t>& members);
  void adam(double rate, double decay, std::int64_t number, const std::vector<std::size_t>& members);
  void muon(double rate, const std::vector<std::size_t>& members);
  void clip_norm();

  OptimizerOptions options_;
  NamedTensors weights_;
  std::map<Group, std::vector<std::size_t>> groups_;
  std::vector<torch::Tensor> first_;   // sum of squares (adagrad), first moment, or average of gradients (muon)
  std::vector<torch::Tensor> second_;  // second moment (adam, adamw); undefined for others
};

}  // namespace xlm
