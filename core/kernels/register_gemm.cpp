// With AVX-512 blocks of up to 13 × 32 results: 26 of the 32 vector registers hold sums, the others a row of B and an
// element of A. With AVX2 blocks of up to 6 × 16: 12 of 16 registers. B is read in panels as wide as a block: in place
// by register_gemm, whose operands are small, and copied first by PackedRight, so that they lie in the first-level
// cache without gaps.
#include "core/kernels/register_gemm.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "core/kernels/kernel_table.h"
#include "core/kernels/simd.h"
#include "core/kernels/transpose.h"

namespace xlm {
namespace {

/// The largest block of a processor whose vectors have `lanes` floats: kRows rows of kVectors vectors.
template <int lanes>
struct BlockShape {
  static constexpr int kLanes = lanes < 16 ? 8 : 16;
  static constexpr int kVectors = 2;
  static constexpr std::int64_t kRows = lanes < 16 ? 6 : 13;
  static constexpr std::int64_t kPanel = kVectors * kLanes;  // columns
};

constexpr std::int64_t kWidestPanel = BlockShape<16>::kPanel;
constexpr std::int64_t kDepth = 256;  // rows of a panel: half of a first-level cache with AVX2, two thirds with AVX-512

/// Columns of this processor's panels.
std::int64_t panel_columns() { return simd_lanes < 16 ? BlockShape<8>::kPanel : BlockShape<16>::kPanel; }

/// Columns of a right operand, whose rows are `stride` apart.
struct Panel {
  const float* data;
  std::int64_t stride;
};

/// f(0), …, f(count − 1) with constants, so that what they index stays in registers.
template <class F, std::size_t... i>
XLM_SIMD_INLINE void for_each_place(const F& f, std::index_sequence<i...>) {
  (f(std::integral_constant<std::size_t, i>()), ...);
}

/// C [rows, vectors · kLanes] = A·panel, or C += A·panel.
template <int lanes, int vectors, std::size_t rows>
XLM_SIMD_INLINE void block(std::int64_t inner, const LeftOperand& a, Panel panel, float* c, std::int64_t ldc,
                           bool add) {
  constexpr int kLanes = BlockShape<lanes>::kLanes;
  constexpr std::size_t kGroup = 4;  // rows of A whose addresses have a register in common
  using Row = Vector<float, kLanes>;
  std::array<std::array<Row, vectors>, rows> sums{};
  const auto every_row = [](const auto& f) XLM_SIMD_LAMBDA { for_each_place(f, std::make_index_sequence<rows>()); };
  const auto every_vector = [](const auto& f)
                                XLM_SIMD_LAMBDA { for_each_place(f, std::make_index_sequence<vectors>()); };
  every_row([&](auto i) XLM_SIMD_LAMBDA {  // written after the last product
    every_vector([&](auto v) XLM_SIMD_LAMBDA { __builtin_prefetch(c + i * ldc + v * kLanes, 1); });
  });
  if (add) {
    every_row([&](auto i) XLM_SIMD_LAMBDA {
      every_vector([&](auto v) XLM_SIMD_LAMBDA { sums[i][v] = load<kLanes>(c + i * ldc + v * kLanes); });
    });
  }
  const std::int64_t row = a.row;
  const std::int64_t column = a.column;
  std::array<const float*, (rows + kGroup - 1) / kGroup> at;
  for_each_place([&](auto g) XLM_SIMD_LAMBDA { at[g] = a.data + g * kGroup * row; },
                 std::make_index_sequence<(rows + kGroup - 1) / kGroup>());
  for (std::int64_t k = 0; k < inner; ++k) {
    std::array<Row, vectors> b;
    every_vector([&](auto v) XLM_SIMD_LAMBDA { b[v] = load<kLanes>(panel.data + v * kLanes); });
    panel.data += panel.stride;
    every_row([&](auto i) XLM_SIMD_LAMBDA {
      const float x = at[i / kGroup][i % kGroup * row];
      every_vector([&](auto v) XLM_SIMD_LAMBDA { sums[i][v] += x * b[v]; });
    });
    for (const float*& pointer : at) pointer += column;
  }
  every_row([&](auto i) XLM_SIMD_LAMBDA {
    every_vector([&](auto v) XLM_SIMD_LAMBDA { store<kLanes>(sums[i][v], c + i * ldc + v * kLanes); });
  });
}

/// A block of `count` rows, which is known only at run time.
template <int lanes, int vectors, std::size_t rows = BlockShape<lanes>::kRows>
XLM_SIMD_INLINE void block_of(std::size_t count, std::int64_t inner, const LeftOperand& a, Panel panel, float* c,
                              std::int64_t ldc, bool add) {
  if (count == rows) return block<lanes, vectors, rows>(inner, a, panel, c, ldc, add);
  if constexpr (rows > 1) block_of<lanes, vectors, rows - 1>(count, inner, a, panel, c, ldc, add);
}

/// The same for any number of rows, in blocks of about as many rows each: those of few rows wait for their own sums.
template <int lanes, int vectors>
XLM_SIMD_INLINE void blocks(std::int64_t rows, std::int64_t inner, const LeftOperand& a, Panel panel, float* c,
                            std::int64_t ldc, bool add) {
  constexpr std::int64_t kRows = BlockShape<lanes>::kRows;
  std::int64_t count = (rows + kRows - 1) / kRows;
  for (std::int64_t i = 0; i < rows; --count) {
    const std::int64_t taken = (rows - i + count - 1) / count;
    block_of<lanes, vectors>(static_cast<std::size_t>(taken), inner, {a.data + i * a.row, a.row, a.column}, panel,
                             c + i * ldc, ldc, add);
    i += taken;
  }
}

/// The same for the first `columns` of a panel whose others are zeros.
template <int lanes, int vectors>
XLM_SIMD_INLINE void part_of_blocks(std::int64_t rows, std::int64_t columns, std::int64_t inner, const LeftOperand& a,
                                    Panel panel, float* c, std::int64_t ldc, bool add) {
  constexpr std::int64_t kRows = BlockShape<lanes>::kRows;
  constexpr std::int64_t kWidth = vectors * BlockShape<lanes>::kLanes;
  std::array<float, static_cast<std::size_t>(kRows * kWidth)> sums;
  for (std::int64_t i = 0; i < rows; i += kRows) {
    const std::int64_t count = std::min(kRows, rows - i);
    block_of<lanes, vectors>(static_cast<std::size_t>(count), inner, {a.data + i * a.row, a.row, a.column}, panel,
                             sums.data(), kWidth, false);
    for (std::int64_t k = 0; k < count; ++k) {
      float* to = c + (i + k) * ldc;
      const float* from = sums.data() + k * kWidth;
      for (std::int64_t j = 0; j < columns; ++j) to[j] = add ? to[j] + from[j] : from[j];
    }
  }
}

template <int lanes>
XLM_SIMD_INLINE void panel_product_of(std::int64_t rows, std::int64_t columns, std::int64_t inner, const LeftOperand& a,
                                      Panel panel, float* c, std::int64_t ldc, bool add) {
  using Widest = BlockShape<lanes>;
  if (columns == Widest::kPanel) {
    blocks<lanes, Widest::kVectors>(rows, inner, a, panel, c, ldc, add);
  } else if (columns == Widest::kLanes) {
    blocks<lanes, 1>(rows, inner, a, panel, c, ldc, add);
  } else if (columns < Widest::kLanes) {
    part_of_blocks<lanes, 1>(rows, columns, inner, a, panel, c, ldc, add);
  } else {
    part_of_blocks<lanes, Widest::kVectors>(rows, columns, inner, a, panel, c, ldc, add);
  }
}

XLM_SIMD_VERSIONS(void, panel_product,
                  (std::int64_t rows, std::int64_t columns, std::int64_t inner, const LeftOperand& a, Panel panel,
                   float* c, std::int64_t ldc, bool add),
                  (rows, columns, inner, a, panel, c, ldc, add))

/// Copies [inner, columns] of a matrix into a panel, padded with zeros.
void pack(const float* b, std::int64_t ldb, std::int64_t inner, std::int64_t columns, float* panel) {
  const std::int64_t width = panel_columns();
  if (columns < width) std::fill_n(panel, inner * width, 0.0F);
  for (std::int64_t k = 0; k < inner; ++k) std::copy_n(b + k * ldb, columns, panel + k * width);
}

/// The same of its transpose b [columns, inner].
void pack_transposed(const float* b, std::int64_t ldb, std::int64_t inner, std::int64_t columns, float* panel) {
  const std::int64_t width = panel_columns();
  if (columns < width) std::fill_n(panel, inner * width, 0.0F);
  transpose(b, ldb, columns, inner, panel, width);
}

}  // namespace

bool uses_register_gemm() {
  static const bool uses = choose_kernel(Operation::kProducts, {}) == KernelVersion::kOwn;
  return uses;
}

void register_gemm(std::int64_t rows, std::int64_t columns, std::int64_t inner, const LeftOperand& a, const float* b,
                   std::int64_t ldb, float* c, std::int64_t ldc, bool add) {
  alignas(64) std::array<float, static_cast<std::size_t>(kDepth * kWidestPanel)> copied;
  const std::int64_t most = panel_columns();
  for (std::int64_t k = 0; k < inner; k += kDepth) {
    const std::int64_t depth = std::min(kDepth, inner - k);
    for (std::int64_t j = 0; j < columns; j += most) {
      const std::int64_t width = std::min(most, columns - j);
      Panel panel{b + k * ldb + j, ldb};
      if (width % (most / 2) != 0) {  // whole vectors are read where they are
        pack(panel.data, ldb, depth, width, copied.data());
        panel = {copied.data(), most};
      }
      panel_product(rows, width, depth, {a.data + k * a.column, a.row, a.column}, panel, c + j, ldc, add || k > 0);
    }
  }
}

PackedRight::PackedRight(const torch::Tensor& b, bool transposed)
    : inner_(b.size(transposed ? 1 : 0)), columns_(b.size(transposed ? 0 : 1)) {
  const std::int64_t most = panel_columns();
  const std::int64_t count = (columns_ + most - 1) / most;
  panels_ = torch::empty({count * most * inner_}, torch::kFloat);
  const float* from = b.const_data_ptr<float>();
  const std::int64_t ldb = b.stride(0);
  float* to = panels_.data_ptr<float>();
  // Pieces of kDepth rows, each with all its panels, in the order in which a product reads them.
  const std::int64_t pieces = (inner_ + kDepth - 1) / kDepth;
  at::parallel_for(0, pieces * count, 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t k = i / count * kDepth;
      const std::int64_t j = i % count * most;
      const std::int64_t depth = std::min(kDepth, inner_ - k);
      const std::int64_t width = std::min(most, columns_ - j);
      float* panel = to + k * count * most + i % count * depth * most;
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
  const std::int64_t most = panel_columns();
  for (std::int64_t k = 0; k < inner_; k += kDepth) {
    const std::int64_t depth = std::min(kDepth, inner_ - k);
    for (std::int64_t j = 0; j < columns_; j += most) {
      panel_product(rows, std::min(most, columns_ - j), depth, {a.data + k * a.column, a.row, a.column}, {panel, most},
                    c + j, ldc, add || k > 0);
      panel += depth * most;
    }
  }
}

}  // namespace xlm
