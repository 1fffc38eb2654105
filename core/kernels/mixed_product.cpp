// The types of products, and those whose result has a higher precision than their operands.
#include "core/kernels/mixed_product.h"

#include <ATen/autocast_mode.h>

#include "core/kernels/packed_operands.h"

namespace xlm {

torch::ScalarType type_of_products(const torch::Tensor& weight) {
  const torch::DeviceType device = weight.device().type();
  return at::autocast::is_autocast_enabled(device) && !autocast_lacks_products(weight)
             ? at::autocast::get_autocast_dtype(device)
             : weight.scalar_type();
}

torch::Tensor product_as(const torch::Tensor& a, const torch::Tensor& b, torch::ScalarType result) {
  if (a.scalar_type() == result) return torch::mm(a, b);
  return a.is_cuda() && result == torch::kFloat ? at::mm(a, b, result) : torch::mm(a, b).to(result);
}

torch::Tensor column_sums(const torch::Tensor& x) {
  const torch::ScalarType type = x.scalar_type() == torch::kDouble ? torch::kDouble : torch::kFloat;
  if (!x.is_cuda() || x.scalar_type() != torch::kBFloat16) return x.sum(0, /*keepdim=*/false, type);
  return product_as(torch::ones({1, x.size(0)}, x.options()), x, type).squeeze(0);
}

}  // namespace xlm
