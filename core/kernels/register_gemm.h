// Matrix products in float32 of this program: blocks of the result stay in registers while the inner dimension passes
// by.
//
// libtorch's small products (brgemm) are made for AVX-512. On processors without it they run at half of what the
// processor can do, and these take their place.
#pragma once

#include <cstdint>

#include <torch/torch.h>

namespace xlm {

/// Whether the kernels of this process use these products in float32, or libtorch's (kernel_table.h).
bool uses_register_gemm();

/// A left operand [m, k]: row i, column p is data[i · row + p · column]. A transposed matrix needs no copy.
struct LeftOperand {
  const float* data;
  std::int64_t row;
  std::int64_t column;
};

/// C [rows, columns] = A·B, or C += A·B if `add`. B [inner, columns] and C lie row by row, `ldb` and `ldc` apart.
void register_gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, const LeftOperand& a, const float* b,
                   std::int64_t ldb, float* c, std::int64_t ldc, bool add);

/// A right operand [inner, columns] of many products, copied once into the order in which they read it.
class PackedRight {
 public:
  /// Of a matrix b [inner, columns], or of the transpose of `b` [columns, inner]. The elements of a row lie side by
  /// side, as in all matrices here.
  explicit PackedRight(const torch::Tensor& b, bool transposed = false);

  /// C [rows, columns] = A·B, or C += A·B if `add`. Any number of threads may call it.
  void product(std::int64_t rows, const LeftOperand& a, float* c, std::int64_t ldc, bool add) const;

 private:
  std::int64_t inner_, columns_;
  torch::Tensor panels_;
};

}  // namespace xlm
