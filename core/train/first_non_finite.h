// Which tensor of a step is the first that is not finite (train.debug).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "core/kernels/step_context.h"
#include "core/runtime/safetensors.h"

namespace xlm {

/// Watches the weights, activations and gradients of steps. Each check waits for the device.
class FirstNonFinite final : public ProductObserver {
 public:
  /// `weights` are watched in place.
  explicit FirstNonFinite(NamedTensors weights);
  ~FirstNonFinite() override;

  /// Before a step: forgets the last one, and looks at the weights.
  void begin_step();
  /// During forward and backward passes, by way of ObservedProducts.
  void product(const torch::Tensor& input, const torch::Tensor& weight, const torch::Tensor& output) override;
  void loss(const torch::Tensor& loss);
  /// After the update: looks at the weights again.
  void end_step();

  /// The first tensor found: "the activation that layers.1.ff.fc1.weight reads: 3 of 512 numbers, the first in row 2 of
  /// 64"; nullopt if all are finite. Rows count from 1.
  std::optional<std::string> found() const;
  /// Throws DivergedError if there is one. `step` is the step's number, `place` where its batch begins.
  void check(std::int64_t step, const Json& place) const;

 private:
  struct Finding;
  std::string name_of(const torch::Tensor& weight) const;

  NamedTensors weights_;
  std::shared_ptr<Finding> finding_;  // shared with the hooks of gradients, which live as long as their tensors
  std::string last_named_;            // the named weight of a product that was seen last
};

}  // namespace xlm
