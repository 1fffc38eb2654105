// Blocks of up to 6 × 16 results: 12 of the 16 vector registers of AVX2 hold sums, the others a row of B and an element
// of A. B is copied first into panels of 16 columns, so that they are in the first-level cache without gaps.
#include "core/kernels/register_gemm.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "core/kernels/simd.h"
#include "core/kernels/transpose.h"

namespace xlm {
namespace {

constexpr int kLanes = 8;
constexpr std::int64_t kPanel = 2 * kLanes;  // columns
constexpr std::int64_t kBlock = 6;           // rows of the largest block
constexpr std::int64_t kDepth = 256;         // rows of a panel: 16 KB, half of a first-level cache

using HalfRow = Vector<float, kLanes>;

/// C [rows, 16] = A·panel, or C += A·panel.
template <std::int64_t rows>
XLM_SIMD_INLINE void block(std::int64_t inner, const LeftOperand& given, const float* panel, float* c, std::int64_t ldc,
                           bool add) {
  const LeftOperand a = given;
  std::array<HalfRow, rows> left{};
  std::array<HalfRow, rows> right{};
#pragma GCC unroll 6
  for (std::int64_t i = 0; i < rows; ++i) __builtin_prefetch(c + i * ldc, 1);  // written after the last product
  if (add) {
#pragma GCC unroll 6
    for (std::int64_t i = 0; i < rows; ++i) {
      left[i] = load<kLanes>(c + i * ldc);
      right[i] = load<kLanes>(c + i * ldc + kLanes);
    }
  }
  const float* at = a.data;
  for (std::int64_t k = 0; k < inner; ++k) {
    const HalfRow b_left = load<kLanes>(panel + k * kPanel);
    const HalfRow b_right = load<kLanes>(panel + k * kPanel + kLanes);
#pragma GCC unroll 6
    for (std::int64_t i = 0; i < rows; ++i) {
      const float x = at[i * a.row];
      left[i] += x * b_left;
      right[i] += x * b_right;
    }
    at += a.column;
  }
#pragma GCC unroll 6
  for (std::int64_t i = 0; i < rows; ++i) {
    store<kLanes>(left[i], c + i * ldc);
    store<kLanes>(right[i], c + i * ldc + kLanes);
  }
}

/// How many of the remaining rows the next block takes. Blocks of one to three rows wait for their own sums, so 7 and 8
/// rows are halved.
constexpr std::int64_t next_block(std::int64_t left) {
  if (left == 7 || left == 8) return 4;
  return std::min(left, kBlock);
}

/// The same for any number of rows.
XLM_SIMD_INLINE void blocks(std::int64_t rows, std::int64_t inner, const LeftOperand& a, const float* panel, float* c,
                            std::int64_t ldc, bool add) {
  for (std::int64_t i = 0; i < rows;) {
    const std::int64_t count = next_block(rows - i);
    const LeftOperand part{a.data + i * a.row, a.row, a.column};
    float* to = c + i * ldc;
    switch (count) {
      case 6:
        block<6>(inner, part, panel, to, ldc, add);
        break;
      case 5:
        block<5>(inner, part, panel, to, ldc, add);
        break;
      case 4:
        block<4>(inner, part, panel, to, ldc, add);
        break;
      case 3:
        block<3>(inner, part, panel, to, ldc, add);
        break;
      case 2:
        block<2>(inner, part, panel, to, ldc, add);
        break;
      default:
        block<1>(inner, part, panel, to, ldc, add);
    }
    i += count;
  }
}

/// The same for the first `columns` of a panel whose others are zeros.
XLM_SIMD_INLINE void part_of_blocks(std::int64_t rows, std::int64_t columns, std::int64_t inner, const LeftOperand& a,
                                    const float* panel, float* c, std::int64_t ldc, bool add) {
  std::array<float, static_cast<std::size_t>(kBlock * kPanel)> sums;
  for (std::int64_t i = 0; i < rows; i += kBlock) {
    const std::int64_t count = std::min(kBlock, rows - i);
    blocks(count, inner, {a.data + i * a.row, a.row, a.column}, panel, sums.data(), kPanel, false);
    for (std::int64_t k = 0; k < count; ++k) {
      float* to = c + (i + k) * ldc;
      const float* from = sums.data() + k * kPanel;
      for (std::int64_t j = 0; j < columns; ++j) to[j] = add ? to[j] + from[j] : from[j];
    }
  }
}

template <int>
XLM_SIMD_INLINE void panel_product_of(std::int64_t rows, std::int64_t columns, std::int64_t inner, const LeftOperand& a,
                                      const float* panel, float* c, std::int64_t ldc, bool add) {
  if (columns == kPanel) {
    blocks(rows, inner, a, panel, c, ldc, add);
  } else {
    part_of_blocks(rows, columns, inner, a, panel, c, ldc, add);
  }
}

XLM_SIMD_VERSIONS(void, panel_product,
                  (std::int64_t rows, std::int64_t columns, std::int64_t inner, const LeftOperand& a,
                   const float* panel, float* c, std::int64_t ldc, bool add),
                  (rows, columns, inner, a, panel, c, ldc, add))

/// Copies [inner, columns] of a matrix into a panel, padded with zeros.
void pack(const float* b, std::int64_t ldb, std::int64_t inner, std::int64_t columns, float* panel) {
  if (columns == kPanel) {
    for (std::int64_t k = 0; k < inner; ++k) std::memcpy(panel + k * kPanel, b + k * ldb, kPanel * sizeof(float));
    return;
  }
  std::fill_n(panel, inner * kPanel, 0.0F);
  for (std::int64_t k = 0; k < inner; ++k) std::copy_n(b + k * ldb, columns, panel + k * kPanel);
}

/// The same of its transpose b [columns, inner].
void pack_transposed(const float* b, std::int64_t ldb, std::int64_t inner, std::int64_t columns, float* panel) {
  if (columns < kPanel) std::fill_n(panel, inner * kPanel, 0.0F);
  transpose(b, ldb, columns, inner, panel, kPanel);
}

bool is_faster() {
  if (const char* chosen = std::getenv("XLM_PRODUCTS"); chosen != nullptr && *chosen != '\0') {
    const std::string_view name = chosen;
    if (name != "own" && name != "libtorch") throw UsageError("XLM_PRODUCTS is neither 'own' nor 'libtorch'");
    return name == "own";
  }
  return simd_lanes < 16;
}

}  // namespace

bool uses_register_gemm() {
  static const bool uses = is_faster();
  return uses;
}

void register_gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, const LeftOperand& a, const float* b,
                   std::int64_t ldb, float* c, std::int64_t ldc, bool add) {
  alignas(64) std::array<float, static_cast<std::size_t>(kDepth * kPanel)> panel;
  for (std::int64_t k = 0; k < inner; k += kDepth) {
    const std::int64_t depth = std::min(kDepth, inner - k);
    for (std::int64_t j = 0; j < columns; j += kPanel) {
      const std::int64_t width = std::min(kPanel, columns - j);
      pack(b + k * ldb + j, ldb, depth, width, panel.data());
      panel_product(rows, width, depth, {a.data + k * a.column, a.row, a.column}, panel.data(), c + j, ldc,
                    add || k > 0);
    }
  }
}

PackedRight::PackedRight(const torch::Tensor& b, bool transposed)
    : inner_(b.size(transposed ? 1 : 0)), columns_(b.size(transposed ? 0 : 1)) {
  const std::int64_t count = (columns_ + kPanel - 1) / kPanel;
  panels_ = torch::empty({count * kPanel * inner_}, torch::kFloat);
  const float* from = b.const_data_ptr<float>();
  const std::int64_t ldb = b.stride(0);
  float* to = panels_.data_ptr<float>();
  // Pieces of kDepth rows, each with all its panels, in the order in which a product reads them.
  const std::int64_t pieces = (inner_ + kDepth - 1) / kDepth;
  at::parallel_for(0, pieces * count, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t k = i / count * kDepth;
      const std::int64_t j = i % count * kPanel;
      const std::int64_t depth = std::min(kDepth, inner_ - k);
      const std::int64_t width = std::min(kPanel, columns_ - j);
      float* panel = to + k * count * kPanel + i % count * depth * kPanel;
      if (transposed) {
        pack_transposed(from + j * ldb + k, ldb, depth, width, panel);
      } else {
        pack(from + k * ldb + j, ldb, depth, width, panel);
      }
    }
  });
}

void PackedRight::product(std::int64_t rows, const LeftOperand& a, float* c, std::int64_t ldc, bool add) const {
  const float* panel = panels_.const_data_ptr<float>();
  for (std::int64_t k = 0; k < inner_; k += kDepth) {
    const std::int64_t depth = std::min(kDepth, inner_ - k);
    for (std::int64_t j = 0; j < columns_; j += kPanel) {
      panel_product(rows, std::min(kPanel, columns_ - j), depth, {a.data + k * a.column, a.row, a.column}, panel, c + j,
                    ldc, add || k > 0);
      panel += depth * kPanel;
    }
  }
}

}  // namespace xlm
