// What products of tiles read: in float32 and double the matrices as they are, in bfloat16 copies in the order that the
// processor multiplies in, pairs of the inner dimension side by side. Sums are always made in Sum<T>.
//
// Products are [m, k] · [k, n]: the left operand lies row by row, the right one as Right<T> says.
#pragma once

#include <ATen/native/CPUBlas.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include <torch/torch.h>

#include "core/kernels/attention_heads.h"
#include "core/kernels/transpose.h"

namespace xlm {

using Bfloat16 = c10::BFloat16;

/// What products of T are summed in.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, Bfloat16>, float, T>;

/// Rows of the inner dimension that lie side by side in a right operand; offsets into it are multiples.
template <class T>
constexpr std::int64_t kPair = std::is_same_v<T, Bfloat16> ? 2 : 1;

/// C (+)= A·B with B in pairs of rows.
inline void product(std::int64_t rows, std::int64_t columns, std::int64_t inner, const Bfloat16* a, std::int64_t lda,
                    const Bfloat16* b, std::int64_t ldb, float* c, std::int64_t ldc, bool add) {
  at::native::cpublas::brgemm(rows, columns, inner, lda, ldb, ldc, add, a, b, c, true);
}

/// Rounds to nearest even.
void to_bfloat16(const float* in, std::int64_t count, Bfloat16* out);
/// out[i / 2, j, i % 2] = in[i, j] of a [rows, columns] matrix; rows are even.
void pair_rows(const float* in, std::int64_t stride, std::int64_t rows, std::int64_t columns, Bfloat16* out);
void pair_rows(const Bfloat16* in, std::int64_t stride, std::int64_t rows, std::int64_t columns, Bfloat16* out);

/// True where the processor multiplies bfloat16, and libtorch's small products do.
bool has_bfloat16_products();

/// The type of sums over numbers of a type: Sum<T>.
inline torch::ScalarType sum_type(torch::ScalarType type) {
  return type == torch::kDouble ? torch::kDouble : torch::kFloat;
}

/// The type that a kernel multiplies in: bfloat16 where that is given, can be had, and what is paired is `even`.
inline torch::ScalarType product_type(torch::ScalarType given, bool even) {
  return given == torch::kBFloat16 && even && has_bfloat16_products() ? given : sum_type(given);
}

/// After the last product of a thread: of bfloat16, some processors keep a state that others' products do not expect.
template <class T>
void end_products() {
  if constexpr (std::is_same_v<T, Bfloat16>) at::native::cpublas::brgemm_release();
}

/// A right operand: row k and column j at data[k · stride + j], or in pairs at data[k · stride + 2 j + …].
template <class T>
struct Right {
  const T* data;
  std::int64_t stride;
  /// From a row on, which is a multiple of kPair.
  const T* row(std::int64_t k) const { return data + k * stride; }
  const T* column(std::int64_t j) const { return data + j * kPair<T>; }
};

/// Keeps what operands are copied to.
template <class T>
class OperandBuffer {
 public:
  /// `count` sums as a left operand that lies as they do.
  const T* left(const Sum<T>* in, std::int64_t count) {
    if constexpr (kPair<T> == 1) {
      return in;
    } else {
      to_bfloat16(in, count, space(count));
      return data_.data();
    }
  }

  /// A [rows, columns] matrix of either type as a right operand.
  template <class From>
  Right<T> right(const From* in, std::int64_t stride, std::int64_t rows, std::int64_t columns) {
    if constexpr (kPair<T> == 1) {
      return {in, stride};
    } else {
      pair_rows(in, stride, rows, columns, space(rows * columns));
      return {data_.data(), columns};
    }
  }

  /// Its transpose [columns, rows] as a right operand of stride `out_stride` ≥ rows; what lies between is zero where
  /// this buffer serves one shape only.
  Right<T> right_transposed(const T* in, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                            std::int64_t out_stride) {
    T* out = space(out_stride * columns);
    if constexpr (kPair<T> == 1) {
      transpose(in, stride, rows, columns, out, out_stride);
    } else {  // pairs of a row travel as one number
      transpose(reinterpret_cast<const float*>(in), stride / 2, rows, columns / 2, reinterpret_cast<float*>(out),
                out_stride);
    }
    return {out, out_stride};
  }

 private:
  T* space(std::int64_t count) {
    if (data_.size() < static_cast<std::size_t>(count)) data_.resize(static_cast<std::size_t>(count));
    return data_.data();
  }

  std::vector<T> data_;
};

/// Sums [width, rows] of row stride `stride` as the rows [rows, width] of a head.
template <class T>
void store_transposed(const Sum<T>* sums, std::int64_t stride, const Matrix<T>& to, std::int64_t rows,
                      std::int64_t width) {
  if constexpr (std::is_same_v<T, Sum<T>>) {
    transpose(sums, stride, width, rows, to.data, to.stride);
  } else {
    std::vector<Sum<T>> turned(static_cast<std::size_t>(rows * width));
    transpose(sums, stride, width, rows, turned.data(), width);
    for (std::int64_t i = 0; i < rows; ++i) to_bfloat16(turned.data() + i * width, width, to.row(i));
  }
}

}  // namespace xlm
