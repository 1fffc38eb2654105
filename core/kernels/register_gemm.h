// Our own matrix products in float32: blocks of the result stay in registers during the inner dimension.
//
// libtorch's small products (brgemm) are made for AVX-512. On processors without it they reach half of the possible
// speed, and these replace them.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

/// Whether the kernels of this process use our small products in float32; otherwise libtorch's, if the processor has
/// AVX-512. The environment variable XLM_PRODUCTS ("own" or "libtorch") overrides this, for tests and measurements.
bool uses_register_gemm();

/// A left operand [m, k]: row i, column p is data[i · row + p · column]. A transposed matrix needs no copy.
struct LeftOperand {
  const float* data;
  std::int64_t row;
  std::int64_t column;
};

/// C [rows, columns] = A·B, or C += A·B if `add`. B [inner, columns] and C are stored row by row, with strides `ldb`
/// and `ldc`.
void register_gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, const LeftOperand& a, const float* b,
                   std::int64_t ldb, float* c, std::int64_t ldc, bool add);

/// A right operand [inner, columns] of many products, copied once into the order in which they read it.
class PackedRight {
 public:
  /// Of a matrix b [inner, columns] with contiguous rows; if `transposed`, of b [columns, inner].
  PackedRight(const torch::Tensor& b, bool transposed);

  /// C [rows, columns] = A·B, or C += A·B if `add`. Several threads may call it at once.
  void product(std::int64_t rows, const LeftOperand& a, float* c, std::int64_t ldc, bool add) const;

 private:
  std::int64_t inner_, columns_;
  torch::Tensor panels_;
};

}  // namespace xlm
