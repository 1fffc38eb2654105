// The types of products, and those whose result has a higher precision than their operands.
#pragma once

#include <torch/torch.h>

namespace xlm {

/// The type of products with a weight: its own, or a lower one if autocast requests it and it is faster.
torch::ScalarType type_of_products(const torch::Tensor& weight);

/// a·b [m, n] of a [m, k] and b [k, n] in the type `result`. If that is float32 and the operands are bfloat16, a GPU's
/// sums are not rounded to bfloat16 on the way.
torch::Tensor product_as(const torch::Tensor& a, const torch::Tensor& b, torch::ScalarType result);

/// The sums [n] of the columns of x [m, n] in float32 or, of a double, in double. On a GPU in bfloat16 a product with
/// ones computes them, at the rate of memory; libtorch's sum takes up to four times as long.
torch::Tensor column_sums(const torch::Tensor& x);

}  // namespace xlm
