// Transposes in blocks of 16 × 16 that stay in registers.
#include "core/kernels/transpose.h"

#include <array>
#include <cstring>

#include "core/kernels/simd_dispatch.h"

namespace xlm {
namespace {

constexpr std::int64_t kSide = 16;

using Floats = float __attribute__((vector_size(kSide * sizeof(float))));
using Places = std::int32_t __attribute__((vector_size(kSide * sizeof(std::int32_t))));

/// Swaps the off-diagonal squares of side `step` between two rows of a block.
template <int step>
XLM_SIMD_INLINE void swap_squares(Floats& upper, Floats& lower) {
  Places first{};
  Places second{};
  for (int j = 0; j < static_cast<int>(kSide); ++j) {
    const bool right = (j & step) != 0;
    first[j] = right ? static_cast<int>(kSide) + j - step : j;
    second[j] = right ? static_cast<int>(kSide) + j : j + step;
  }
  const Floats above = __builtin_shuffle(upper, lower, first);
  lower = __builtin_shuffle(upper, lower, second);
  upper = above;
}

template <int step>
XLM_SIMD_INLINE void swap_all(std::array<Floats, kSide>& rows) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(kSide); ++i) {
    if ((i & step) == 0) swap_squares<step>(rows[i], rows[i + step]);
  }
}

XLM_SIMD_INLINE void transpose_block(const float* in, std::int64_t in_stride, float* out, std::int64_t out_stride) {
  std::array<Floats, kSide> rows;
  for (std::int64_t i = 0; i < kSide; ++i) {
    std::memcpy(&rows[static_cast<std::size_t>(i)], in + i * in_stride, sizeof(Floats));
  }
  swap_all<8>(rows);
  swap_all<4>(rows);
  swap_all<2>(rows);
  swap_all<1>(rows);
  for (std::int64_t i = 0; i < kSide; ++i) {
    std::memcpy(out + i * out_stride, &rows[static_cast<std::size_t>(i)], sizeof(Floats));
  }
}

template <class T>
XLM_SIMD_INLINE void transpose_rest(const T* in, std::int64_t in_stride, std::int64_t rows, std::int64_t columns,
                                    T* out, std::int64_t out_stride) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < columns; ++k) out[k * out_stride + i] = in[i * in_stride + k];
  }
}

/// Blocks have one size for any vectors.
template <int>
XLM_SIMD_INLINE void transpose_of(const float* in, std::int64_t in_stride, std::int64_t rows, std::int64_t columns,
                                  float* out, std::int64_t out_stride) {
  const std::int64_t whole_rows = rows / kSide * kSide;
  const std::int64_t whole_columns = columns / kSide * kSide;
  for (std::int64_t i = 0; i < whole_rows; i += kSide) {
    for (std::int64_t k = 0; k < whole_columns; k += kSide) {
      transpose_block(in + i * in_stride + k, in_stride, out + k * out_stride + i, out_stride);
    }
  }
  transpose_rest(in + whole_columns, in_stride, rows, columns - whole_columns, out + whole_columns * out_stride,
                 out_stride);
  transpose_rest(in + whole_rows * in_stride, in_stride, rows - whole_rows, whole_columns, out + whole_rows,
                 out_stride);
}

}  // namespace

XLM_SIMD_VERSIONS(void, transpose,
                  (const float* in, std::int64_t in_stride, std::int64_t rows, std::int64_t columns, float* out,
                   std::int64_t out_stride),
                  (in, in_stride, rows, columns, out, out_stride))

void transpose(const double* in, std::int64_t in_stride, std::int64_t rows, std::int64_t columns, double* out,
               std::int64_t out_stride) {
  transpose_rest(in, in_stride, rows, columns, out, out_stride);
}

}  // namespace xlm
