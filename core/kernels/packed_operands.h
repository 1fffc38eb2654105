// The operands of a matrix product A·B, in the order in which the processor reads them.
//
// A is [m, k], the left operand, stored row by row. B is [k, n], the right operand; Right<T> describes its layout. In
// float32 and double both are read in place. In bfloat16 they are copied first, because the processor multiplies two
// numbers of the inner dimension k at once: rows 0 and 1 of B are interleaved, rows 2 and 3, and so on. These are
// pairs. Results are summed in Sum<T>, which for bfloat16 is float.
#pragma once

#include <ATen/native/CPUBlas.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <torch/torch.h>

#include "core/kernels/attention_heads.h"
#include "core/kernels/transpose.h"

namespace xlm {

using Bfloat16 = c10::BFloat16;

/// The type in which products of T are summed.
template <class T>
using Sum = std::conditional_t<std::is_same_v<T, Bfloat16>, float, T>;

/// How many rows of a right operand are interleaved. A part of it can begin only at a multiple of so many rows.
template <class T>
constexpr std::int64_t kPair = std::is_same_v<T, Bfloat16> ? 2 : 1;

/// C = A·B, or C += A·B if `add`. B is in pairs of rows. `lda`, `ldb` and `ldc` are the strides of rows.
inline void product(std::int64_t rows, std::int64_t columns, std::int64_t inner, const Bfloat16* a, std::int64_t lda,
                    const Bfloat16* b, std::int64_t ldb, float* c, std::int64_t ldc, bool add) {
  at::native::cpublas::brgemm(rows, columns, inner, lda, ldb, ldc, add, a, b, c, true);
}

/// Whether the processor has an instruction for it, and libtorch's choice of kernels allows for it.
bool rounds_by_instruction();
/// Copies `count` numbers, each rounded to the nearest bfloat16; of two equally near ones, to the even one. Numbers
/// below 2⁻¹²⁶ may become 0, as processors with bfloat16 have it.
void to_bfloat16(const float* in, std::int64_t count, Bfloat16* out);
void to_float(const Bfloat16* in, std::int64_t count, float* out);
/// Interleaves pairs of rows of a [rows, columns] matrix: out[i / 2, j, i % 2] = in[i, j]. `rows` is even. `stride` is
/// the distance between rows of `in`.
void pair_rows(const float* in, std::int64_t stride, std::int64_t rows, std::int64_t columns, Bfloat16* out);
void pair_rows(const Bfloat16* in, std::int64_t stride, std::int64_t rows, std::int64_t columns, Bfloat16* out);

/// Whether the processor can multiply bfloat16, and libtorch's small products use it.
bool has_bfloat16_products();

/// Whether autocast requests bfloat16 products that the processor does not have. libtorch's own are then twenty-five
/// times slower than those in float32, which can multiply the same values instead.
bool autocast_lacks_products(const torch::Tensor& x);

/// Sum<T> as a value, for a type that is known only at run time.
inline torch::ScalarType sum_type(torch::ScalarType type) {
  return type == torch::kDouble ? torch::kDouble : torch::kFloat;
}

/// The type in which a kernel multiplies numbers of the type `given`: bfloat16 if that is given, the processor has it,
/// and the paired dimension is `even`; otherwise the type of the sums.
inline torch::ScalarType product_type(torch::ScalarType given, bool even) {
  return given == torch::kBFloat16 && even && has_bfloat16_products() ? given : sum_type(given);
}

/// Call it after the last product of a thread. Some processors have a mode for bfloat16 products, which other code does
/// not expect.
template <class T>
void end_products() {
  if constexpr (std::is_same_v<T, Bfloat16>) at::native::cpublas::brgemm_release();
}

/// A right operand. Row k, column j is data[k · stride + j]. In pairs, for even k, it is data[k · stride + 2 j],
/// followed by the same column of row k + 1.
template <class T>
struct Right {
  const T* data;
  std::int64_t stride;
  /// The operand from row k on; k is a multiple of kPair.
  const T* row(std::int64_t k) const { return data + k * stride; }
  /// The operand from column j on.
  const T* column(std::int64_t j) const { return data + j * kPair<T>; }
};

/// Where numbers are computed that store_left then brings to `to`: there, or in `buffer` if they are rounded on the
/// way.
template <class T>
Sum<T>* sums_for(T* to, Sum<T>* buffer) {
  if constexpr (std::is_same_v<T, Sum<T>>) {
    return to;
  } else {
    return buffer;
  }
}

/// Writes sums in the same order, as a row or part of a left operand. Does nothing if `to` is `from`.
template <class T>
void store_left(const Sum<T>* from, std::int64_t count, T* to) {
  if constexpr (kPair<T> == 1) {
    if (to != from) std::copy(from, from + count, to);
  } else {
    to_bfloat16(from, count, to);
  }
}

/// Writes kPair rows [kPair, columns] of sums as part of a right operand. Does nothing if `to` is `from`.
template <class T>
void store_right(const Sum<T>* from, std::int64_t columns, T* to) {
  if constexpr (kPair<T> == 1) {
    if (to != from) std::copy(from, from + columns, to);
  } else {
    pair_rows(from, columns, kPair<T>, columns, to);
  }
}

/// Makes operands, and reuses the memory of their copies. A new operand overwrites the last.
template <class T>
class OperandBuffer {
 public:
  /// `count` sums as a left operand of the same layout. In float32 and double it is `in` itself.
  const T* left(const Sum<T>* in, std::int64_t count) {
    if constexpr (kPair<T> == 1) {
      return in;
    } else {
      to_bfloat16(in, count, space(count));
      return data_.data();
    }
  }

  /// Where store_left or store_right write an operand of `count` numbers. In float32 and double it is `in` itself.
  T* destination(Sum<T>* in, std::int64_t count) {
    if constexpr (kPair<T> == 1) {
      return in;
    } else {
      return space(count);
    }
  }

  /// A [rows, columns] matrix as a right operand. In float32 and double it is `in` itself, otherwise a copy in pairs.
  template <class From>
  Right<T> right(const From* in, std::int64_t stride, std::int64_t rows, std::int64_t columns) {
    if constexpr (kPair<T> == 1) {
      return {in, stride};
    } else {
      pair_rows(in, stride, rows, columns, space(rows * columns));
      return {data_.data(), columns};
    }
  }

  /// The transpose [columns, rows] of a [rows, columns] matrix as a right operand, always a copy. Its stride
  /// `out_stride` may be greater than `rows`. The gaps between rows are zero, as long as this buffer has served
  /// operands of one shape only.
  Right<T> right_transposed(const T* in, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                            std::int64_t out_stride) {
    T* out = space(out_stride * columns);
    if constexpr (kPair<T> == 1) {
      transpose(in, stride, rows, columns, out, out_stride);
    } else {  // a pair of a row moves as one number
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

/// Writes sums [width, rows], whose rows are `stride` apart, transposed into the rows [rows, width] of a head.
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
