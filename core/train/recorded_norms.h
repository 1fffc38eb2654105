// Norms of gradients, weights and updates of a step, for the journal (train.log_norms).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/api/interface.h"
#include "core/runtime/safetensors.h"

namespace xlm {

class RecordedNorms {
 public:
  explicit RecordedNorms(NamedTensors weights);

  /// Before the optimiser's step: takes the gradients, before they are clipped, and copies the weights.
  void before_step();
  /// After it: Euclidean norms gradient_norm, weight_norm and update_norm of all weights together, and of those of each
  /// layer (weight_names.h) as gradient_norm/layers/0, …. The update is what the step has added to the weights.
  NamedValues after_step();

 private:
  void add(const std::string& name, const std::vector<torch::Tensor>& tensors, NamedValues& values) const;

  NamedTensors weights_;
  std::vector<torch::Tensor> before_;
  NamedValues values_;
};

}  // namespace xlm
