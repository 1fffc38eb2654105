// For looking into a step: who asks to sees every linear layer's input and output, in order.
#pragma once

#include <torch/torch.h>

namespace xlm {

class ProductObserver {
 public:
  virtual ~ProductObserver() = default;
  /// A linear layer has read `input` [..., in] and made `output` [..., out] of it, with this weight. `output` is
  /// undefined if it is never made as a whole.
  virtual void product(const torch::Tensor& input, const torch::Tensor& weight, const torch::Tensor& output) = 0;
};

/// While it lives, the observer sees the products of this thread.
class ObservedProducts {
 public:
  explicit ObservedProducts(ProductObserver& observer);
  ~ObservedProducts();
  ObservedProducts(const ObservedProducts&) = delete;
  ObservedProducts& operator=(const ObservedProducts&) = delete;

 private:
  ProductObserver* before_;
};

/// Shows a product to this thread's observer, if there is one.
void observe_product(const torch::Tensor& input, const torch::Tensor& weight, const torch::Tensor& output);

}  // namespace xlm
