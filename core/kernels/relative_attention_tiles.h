// The data of the fused kernel of relative attention: tiles of scores, the table of positions, a thread's memory.
//
// A tile has Q queries and the scores of all W keys before its end, in one buffer F [Q, W] whose rows are S elements
// apart.
//
// One part of a score belongs to the distance i − j of query i and key j. With distances in reverse order, largest
// first, it is in column j − i + const of a product with the table of positions. For the next query the same key is one
// column further left. So the scores by distance are a matrix that shares the memory of F: it begins Q − 1 elements
// before F, and its rows are S + 1 apart. Products with the table read and write it there, and nothing is shifted.
// Values that they write outside the causal part belong to keys that a query does not see, or fall between the rows.
//
// Lengths are rounded up to whole tiles, with zeros behind the last position. That leaves few shapes of products, and
// no remainders.
//
// B batch, H heads, T positions, d head width.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <ATen/Parallel.h>

#include <torch/torch.h>

#include "core/kernels/attention_heads.h"
#include "core/kernels/packed_operands.h"

namespace xlm {

inline constexpr std::int64_t kKeyBlock = 256;  // keys of one product

struct RelativeShape {
  std::int64_t batch, heads, length, width;

  /// Q. Products are faster with more queries, but the scores must stay in the second-level cache.
  std::int64_t tile() const {
    if (length > 1536) return 32;
    return length > 32 ? 64 : 32;
  }
  std::int64_t padded() const { return (length + tile() - 1) / tile() * tile(); }
  /// S, also for transposed tables. It leaves room for values between the rows. It is not a power of two, because
  /// multiples of one compete for the same places in the cache.
  std::int64_t stride() const { return (padded() + kKeyBlock - 1) / kKeyBlock * kKeyBlock + tile() + 16; }
  std::size_t table() const { return static_cast<std::size_t>(width * stride()); }
  std::size_t rows() const { return static_cast<std::size_t>(width * padded()); }
  std::size_t tile_rows() const { return static_cast<std::size_t>(width * tile()); }
  double scale() const { return 1 / std::sqrt(static_cast<double>(width)); }
};

/// C [rows, columns] (+)= A·B with many columns.
template <class T>
void wide_product(std::int64_t rows, std::int64_t columns, std::int64_t inner, const T* a, std::int64_t lda,
                  const Right<T>& b, Sum<T>* c, std::int64_t ldc, bool add) {
  for (std::int64_t j = 0; j < columns; j += kKeyBlock) {
    product(rows, std::min(kKeyBlock, columns - j), inner, a, lda, b.column(j), b.stride, c + j, ldc, add);
  }
}

/// C [rows, columns] = A·B with a long inner dimension.
template <class T>
void deep_product(std::int64_t rows, std::int64_t columns, std::int64_t inner, const T* a, std::int64_t lda,
                  const Right<T>& b, Sum<T>* c) {
  for (std::int64_t k = 0; k < inner; k += kKeyBlock) {
    product(rows, columns, std::min(kKeyBlock, inner - k), a + k, lda, b.row(k), b.stride, c, columns, k > 0);
  }
}

/// Copies to [count, width] the rows of `from` from `first` on.
template <class T>
void pack_rows(const Matrix<T>& from, std::int64_t first, std::int64_t count, std::int64_t width, T* to) {
  for (std::int64_t i = 0; i < count; ++i) std::copy_n(from.row(first + i), width, to + i * width);
}

/// F of one tile, with zeros before the first row and between the rows.
template <class T>
class ScoreTile {
 public:
  explicit ScoreTile(const RelativeShape& shape)
      : tile_(shape.tile()),
        stride_(shape.stride()),
        sums_(static_cast<std::size_t>(tile_ + tile_ * stride_)),
        lowered_(kPair<T> == 1 ? 0 : sums_.size()) {}
  Sum<T>* row(std::int64_t i) { return sums_.data() + tile_ + i * stride_; }
  /// The same by distance, with rows stride() + 1 apart.
  Sum<T>* by_distance() { return row(0) - (tile_ - 1); }
  std::int64_t stride() const { return stride_; }

  /// The first `seen` columns as a left operand, with their current values.
  const T* left(std::int64_t seen) {
    if constexpr (kPair<T> == 1) {
      return row(0);
    } else {
      for (std::int64_t i = 0; i < tile_; ++i) to_bfloat16(row(i), seen, lowered_row() + i * stride_);
      return lowered_row();
    }
  }
  /// The same by distance, after left().
  const T* left_by_distance() {
    if constexpr (kPair<T> == 1) {
      return by_distance();
    } else {
      return lowered_row() - (tile_ - 1);
    }
  }

 private:
  T* lowered_row() { return lowered_.data() + tile_; }

  std::int64_t tile_, stride_;
  std::vector<Sum<T>> sums_;
  std::vector<T> lowered_;
};

/// The position table, largest distance first; distances beyond the sequence are zeros.
template <class T>
class PositionTable {
 public:
  PositionTable(const RelativeShape& shape, const torch::Tensor& position)
      : shape_(shape),
        rows_(torch::zeros({shape.heads, shape.padded(), shape.width}, position.options().requires_grad(false))),
        by_row_buffers_(static_cast<std::size_t>(shape.heads)),
        by_column_buffers_(static_cast<std::size_t>(shape.heads)),
        by_row_(static_cast<std::size_t>(shape.heads)),
        by_column_(static_cast<std::size_t>(shape.heads)) {
    rows_.narrow(1, shape.padded() - shape.length, shape.length).copy_(position.detach().flip(1));
    at::parallel_for(0, shape.heads, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t head = begin; head < end; ++head) {
        const auto i = static_cast<std::size_t>(head);
        const T* rows = rows_.template const_data_ptr<T>() + head * rows_.stride(0);
        by_row_[i] = by_row_buffers_[i].right(rows, shape.width, shape.padded(), shape.width);
        by_column_[i] =
            by_column_buffers_[i].right_transposed(rows, shape.width, shape.padded(), shape.width, shape.stride());
      }
    });
  }

  /// The nearest `seen` distances of a head: [seen, d].
  Right<T> rows(std::int64_t head, std::int64_t seen) const {
    const Right<T>& all = by_row_[static_cast<std::size_t>(head)];
    return {all.row(shape_.padded() - seen), all.stride};
  }
  /// Their transpose, [d, seen].
  Right<T> columns(std::int64_t head, std::int64_t seen) const {
    const Right<T>& all = by_column_[static_cast<std::size_t>(head)];
    return {all.column(shape_.padded() - seen), all.stride};
  }

 private:
  RelativeShape shape_;
  torch::Tensor rows_;  // [H, padded, d]
  std::vector<OperandBuffer<T>> by_row_buffers_, by_column_buffers_;
  std::vector<Right<T>> by_row_, by_column_;
};

/// A thread's memory for one head after another. Everything starts as zeros, and values for positions behind the last
/// stay zero.
template <class T>
struct ForwardSpace {
  OperandBuffer<T> keys;                  // transposed, [d, stride]
  std::vector<T> value;                   // [padded, d]
  OperandBuffer<T> values;                // the same as an operand; transposed in the backward pass
  std::vector<Sum<T>> content, distance;  // queries with their bias, scaled: [Q, d]
  OperandBuffer<T> content_left, distance_left;
  std::vector<Sum<T>> output;  // [Q, d]
  ScoreTile<T> scores;

  explicit ForwardSpace(const RelativeShape& shape)
      : value(shape.rows()),
        content(shape.tile_rows()),
        distance(shape.tile_rows()),
        output(shape.tile_rows()),
        scores(shape) {}
};

template <class T>
struct BackwardSpace : ForwardSpace<T> {
  std::vector<T> key;  // [padded, d]
  OperandBuffer<T> keys_by_row;
  std::vector<Sum<T>> d_key_t, d_value_t;  // [d, stride]
  std::vector<Sum<T>> d_output;            // [Q, d]
  OperandBuffer<T> d_output_left;
  std::vector<Sum<T>> transposed;  // [d, Q]
  OperandBuffer<T> transposed_left, scores_right;
  std::vector<Sum<T>> d_content, d_distance;  // gradients of the queries with their bias: [Q, d]
  ScoreTile<T> d_scores;

  explicit BackwardSpace(const RelativeShape& shape)
      : ForwardSpace<T>(shape),
        key(shape.rows()),
        d_key_t(shape.table()),
        d_value_t(shape.table()),
        d_output(shape.tile_rows()),
        transposed(shape.tile_rows()),
        d_content(shape.tile_rows()),
        d_distance(shape.tile_rows()),
        d_scores(shape) {}
};

}  // namespace xlm
