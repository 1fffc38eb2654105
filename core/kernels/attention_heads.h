// Common parts of the fused attention kernels: small products, and heads of tensors as matrices.
//
// B batch, n heads, T positions, d head width.
#pragma once

#include <ATen/native/CPUBlas.h>

#include <algorithm>
#include <cstdint>

#include <torch/torch.h>

#include "core/kernels/register_gemm.h"

namespace xlm {

/// C = A·B, or C += A·B if `add`. All lie row by row; `lda`, `ldb` and `ldc` are the strides of rows.
inline void product(std::int64_t rows, std::int64_t columns, std::int64_t inner, const float* a, std::int64_t lda,
                    const float* b, std::int64_t ldb, float* c, std::int64_t ldc, bool add) {
  if (uses_register_gemm()) {
    register_gemm(rows, columns, inner, {a, lda, 1}, b, ldb, c, ldc, add);
  } else {
    at::native::cpublas::brgemm(rows, columns, inner, lda, ldb, ldc, add, a, b, c);
  }
}

inline void product(std::int64_t rows, std::int64_t columns, std::int64_t inner, const double* a, std::int64_t lda,
                    const double* b, std::int64_t ldb, double* c, std::int64_t ldc, bool add) {
  for (std::int64_t i = 0; i < rows; ++i) {
    double* row = c + i * ldc;
    if (!add) std::fill(row, row + columns, 0);
    for (std::int64_t k = 0; k < inner; ++k) {
      for (std::int64_t j = 0; j < columns; ++j) row[j] += a[i * lda + k] * b[k * ldb + j];
    }
  }
}

/// A [rows, width] matrix whose rows are `stride` elements apart, such as one head of a tensor.
template <class T>
struct Matrix {
  T* data;
  std::int64_t stride;
  T* row(std::int64_t i) const { return data + i * stride; }
  /// Requests a row from memory, which is read soon. Rows that are far apart are not foreseen by the processor.
  void prefetch(std::int64_t i, std::int64_t width) const {
    constexpr std::int64_t kCacheLine = 64 / sizeof(T);
    for (std::int64_t k = 0; k < width; k += kCacheLine) __builtin_prefetch(row(i) + k);
  }
};

template <class T>
Matrix<T> head_of(const torch::Tensor& x, std::int64_t batch, std::int64_t head) {
  return {x.data_ptr<T>() + batch * x.stride(0) + head * x.stride(1), x.stride(2)};
}

/// `x`, or a copy of it, with contiguous rows. In bfloat16 every pair of elements is also aligned like a float, because
/// pairs are moved as floats.
inline torch::Tensor rows_contiguous(const torch::Tensor& x) {
  bool fits = x.stride(-1) == 1;
  if (x.scalar_type() == torch::kBFloat16) {
    fits = fits && reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % sizeof(float) == 0;
    for (std::int64_t i = 0; i + 1 < x.dim(); ++i) fits = fits && x.stride(i) % 2 == 0;
  }
  return fits ? x : x.clone(torch::MemoryFormat::Contiguous);
}

/// An empty [B, n, T, d] tensor whose heads are interleaved per position, so that joining them needs no copy.
inline torch::Tensor empty_heads(const torch::Tensor& like, std::int64_t length) {
  return torch::empty({like.size(0), length, like.size(1), like.size(3)}, like.options().requires_grad(false))
      .transpose(1, 2);
}

}  // namespace xlm
