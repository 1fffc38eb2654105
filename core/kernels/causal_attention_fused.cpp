// Causal attention, with a window or without, in one kernel on the CPU.
//
// Scores are computed for a tile of queries and a block of keys at a time, and stay in the second-level cache. The
// forward pass keeps a running maximum and sum for each query. The backward pass computes the scores again.
//
// B batch, n heads, M queries, T keys (M or more), W window, d head width.
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/kernels/attention_heads.h"
#include "core/kernels/banded_rows.h"
#include "core/kernels/bfloat16_lanes.h"
#include "core/kernels/causal_attention.h"
#include "core/kernels/packed_operands.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kQueryTile = 64;    // queries
constexpr std::int64_t kKeysAtOnce = 256;  // keys
constexpr std::int64_t kAhead = 16;        // rows that are requested from memory before they are read
constexpr std::int64_t kCacheLine = 16;    // numbers of 4 bytes

/// A row of `count` keys, of which the query sees those from `begin` to `end`.
struct SeenKeys {
  std::int64_t begin, end, count;
};

/// Two queries, one below the other, or one, if T is not bfloat16.
template <class T>
struct PairedRows {
  std::array<SeenKeys, kPair<T>> seen;
  const Sum<T>* log_sums;  // [kPair], log Σ exp(score) of the whole query
  const Sum<T>* dots;      // [kPair], Σ weights · their gradient
};

constexpr std::int64_t kWholeVector = 16;  // numbers

/// Part of a row in whole vectors: what a query sees, and keys around it that it does not.
struct SeenVectors {
  explicit SeenVectors(const SeenKeys& seen)
      : begin(seen.begin - seen.begin % kWholeVector),
        end(std::min(seen.count, (seen.end + kWholeVector - 1) / kWholeVector * kWholeVector)) {}
  std::int64_t begin, end;
};

/// Gives the keys around a score whose exponential adds nothing to a sum with the greatest.
template <class T>
void hide_around(T* scores, const SeenKeys& seen, const SeenVectors& part) {
  std::fill(scores + part.begin, scores + seen.begin, std::numeric_limits<T>::lowest());
  std::fill(scores + seen.end, scores + part.end, std::numeric_limits<T>::lowest());
}

template <class T>
void clear_unseen(T* row, const SeenKeys& seen) {
  std::fill(row, row + seen.begin, T{0});
  std::fill(row + seen.end, row + seen.count, T{0});
}

#if defined(__x86_64__)
/// Those of 16 keys from `key` on.
XLM_SIMD_INLINE std::uint16_t seen_lanes(const SeenKeys& seen, std::int64_t key) {
  return static_cast<std::uint16_t>(lanes_before(seen.end - key) & ~lanes_before(seen.begin - key));
}

XLM_WITH_BFLOAT16 float softmax_in_lanes(const float* scores, const SeenKeys& seen, RunningSoftmax<float>& softmax,
                                         Bfloat16* weights) {
  const SeenVectors part(seen);
  Lanes largest = Lanes{} + softmax.maximum;
  for (std::int64_t j = part.begin; j < part.end; j += 16) {
    const std::uint16_t lanes = seen_lanes(seen, j);
    largest = _mm512_mask_max_ps(largest, lanes, _mm512_maskz_loadu_ps(lanes, scores + j), largest);
  }
  const float maximum = largest_lane(largest);
  Lanes sums{};
  for (std::int64_t j = 0; j < seen.count; j += 16) {
    const std::uint16_t lanes = seen_lanes(seen, j);
    Lanes e{};
    if (lanes != 0) {
      e = _mm512_maskz_mov_ps(lanes, exponential<16>(Lanes(_mm512_maskz_loadu_ps(lanes, scores + j)) - maximum));
      sums += e;
    }
    store_rounded(e, seen.count - j, weights + j);
  }
  const float factor = maximum == softmax.maximum ? 1.0F : std::exp(softmax.maximum - maximum);
  softmax = {maximum, softmax.sum * factor + sum_of_lanes(sums)};
  return factor;
}

struct RowLanes {
  Lanes weights, d_scores;
};

XLM_INLINE_WITH_BFLOAT16 RowLanes gradient_lanes(const float* scores, const float* d_weights, std::uint16_t lanes,
                                                 float log_sum, float dot) {
  if (lanes == 0) return {Lanes{}, Lanes{}};
  const Lanes weights =
      _mm512_maskz_mov_ps(lanes, exponential<16>(Lanes(_mm512_maskz_loadu_ps(lanes, scores)) - log_sum));
  return {weights, weights * (Lanes(_mm512_maskz_loadu_ps(lanes, d_weights)) - dot)};
}

XLM_WITH_BFLOAT16 void gradients_in_lanes(const float* scores, const float* d_weights, const PairedRows<Bfloat16>& rows,
                                          Bfloat16* weights, Bfloat16* d_scores, Bfloat16* d_scores_left) {
  const auto& [first, second] = rows.seen;
  const std::int64_t count = first.count;
  for (std::int64_t j = 0; j < count; j += 16) {
    const RowLanes a = gradient_lanes(scores + j, d_weights + j, seen_lanes(first, j), rows.log_sums[0], rows.dots[0]);
    const RowLanes b = gradient_lanes(scores + count + j, d_weights + count + j, seen_lanes(second, j),
                                      rows.log_sums[1], rows.dots[1]);
    store_rounded_pairs(a.weights, b.weights, count - j, weights + 2 * j);
    store_rounded_pairs(a.d_scores, b.d_scores, count - j, d_scores + 2 * j);
    store_rounded(a.d_scores, count - j, d_scores_left + j);
    store_rounded(b.d_scores, count - j, d_scores_left + count + j);
  }
}
#endif

/// Adds a row of `scores` [count] to its softmax. Writes exp(score − maximum) for the keys that are seen and 0 for the
/// others as part of a left operand. `scores` is changed, and may be `weights`. Returns the factor for what was
/// computed from earlier parts.
template <class T>
Sum<T> window_softmax(Sum<T>* scores, const SeenKeys& seen, RunningSoftmax<Sum<T>>& softmax, T* weights) {
#if defined(__x86_64__)
  if constexpr (kPair<T> == 2) {
    if (rounds_by_instruction()) return softmax_in_lanes(scores, seen, softmax, weights);
  }
#endif
  Sum<T> factor = 1;
  if (seen.begin < seen.end) {
    const SeenVectors part(seen);
    hide_around(scores, seen, part);
    factor = add_to_softmax(scores + part.begin, part.end - part.begin, softmax);
  }
  clear_unseen(scores, seen);
  store_left(scores, seen.count, weights);
  return factor;
}

/// `scores` and `d_weights`, the gradient of the weights, are rows [kPair, count] and changed. Writes weights and
/// gradient of the scores, as parts of right operands, and the gradient also as part of a left operand.
template <class T>
void window_gradients(Sum<T>* scores, Sum<T>* d_weights, const PairedRows<T>& rows, T* weights, T* d_scores,
                      T* d_scores_left) {
#if defined(__x86_64__)
  if constexpr (kPair<T> == 2) {
    if (rounds_by_instruction()) return gradients_in_lanes(scores, d_weights, rows, weights, d_scores, d_scores_left);
  }
#endif
  const std::int64_t count = rows.seen.front().count;
  for (std::int64_t i = 0; i < kPair<T>; ++i) {
    const SeenKeys& seen = rows.seen[static_cast<std::size_t>(i)];
    Sum<T>* row = scores + i * count;
    Sum<T>* d_row = d_weights + i * count;
    if (seen.begin < seen.end) {
      const SeenVectors part(seen);
      hide_around(row, seen, part);
      backward_row(row + part.begin, d_row + part.begin, {.band = part.end - part.begin}, {.log_sum = rows.log_sums[i]},
                   rows.dots[i]);
    }
    clear_unseen(row, seen);
    clear_unseen(d_row, seen);
  }
  store_right(scores, count, weights);
  store_right(d_weights, count, d_scores);
  store_left(d_weights, kPair<T> * count, d_scores_left);
}

struct CausalShape {
  CausalShape(const Tensor& query, const Tensor& key, std::int64_t seen)
      : batch(query.size(0)),
        heads(query.size(1)),
        queries(query.size(2)),
        keys(key.size(2)),
        width(query.size(3)),
        window(seen) {}

  template <class T>
  Sum<T> scale() const {
    return static_cast<Sum<T>>(1 / std::sqrt(static_cast<double>(width)));
  }
  std::int64_t tiles() const { return (queries + kQueryTile - 1) / kQueryTile; }
  /// The distance of rows of one number for each key. It is an odd number of cache lines: at powers of two, a column's
  /// numbers would displace each other from the cache.
  std::int64_t key_stride() const { return ((keys + kCacheLine - 1) / kCacheLine | 1) * kCacheLine; }
  std::int64_t blocks() const { return (keys + kKeysAtOnce - 1) / kKeysAtOnce; }

  std::int64_t batch, heads, queries, keys, width, window;
};

/// The queries of a tile and those keys of a block that one of them sees. The first key begins a cache line.
struct WindowPiece {
  WindowPiece(const CausalShape& shape, std::int64_t tile, std::int64_t block)
      : first(tile * kQueryTile), count(std::min(kQueryTile, shape.queries - first)) {
    const std::int64_t own = shape.keys - shape.queries + first;  // the key of the first query
    key = std::max(block * kKeysAtOnce, own - shape.window + 1);
    key -= key % kCacheLine;
    keys = std::min({(block + 1) * kKeysAtOnce, shape.keys, own + count}) - key;
    begin_ = own - shape.window + 1 - key;
    end_ = own + 1 - key;
  }

  /// The keys that query i of the tile sees, counted from `key`.
  SeenKeys seen(std::int64_t i) const {
    return {.begin = std::clamp<std::int64_t>(begin_ + i, 0, keys),
            .end = std::clamp<std::int64_t>(end_ + i, 0, keys),
            .count = keys};
  }

  std::int64_t first, count;
  std::int64_t key, keys;  // the first key and how many; none sees a key of the block if that is 0 or less

 private:
  std::int64_t begin_, end_;
};

/// A row in the type of sums: itself, or a copy in `buffer`.
template <class T>
const Sum<T>* row_as_sums(const T* row, std::int64_t count, Sum<T>* buffer) {
  if constexpr (std::is_same_v<T, Sum<T>>) {
    return row;
  } else {
    to_float(row, count, buffer);
    return buffer;
  }
}

/// All rows of a head, times a factor, as left operands: unchanged, and on request transposed tile by tile.
template <class T>
class HeadRows {
 public:
  void load(const Matrix<T>& from, std::int64_t count, std::int64_t width, Sum<T> scale, bool transposed) {
    width_ = width;
    const std::int64_t tiles = (count + kQueryTile - 1) / kQueryTile;
    rows_.resize(static_cast<std::size_t>(count * width));
    if (transposed) transposed_.resize(static_cast<std::size_t>(tiles * kQueryTile * width));
    tile_.resize(static_cast<std::size_t>(2 * kQueryTile * width));
    Sum<T>* across = tile_.data() + kQueryTile * width;
    for (std::int64_t first = 0; first < count; first += kQueryTile) {
      const std::int64_t rows = std::min(kQueryTile, count - first);
      for (std::int64_t i = 0; i < rows; ++i) {
        if (first + i + kAhead < count) from.prefetch(first + i + kAhead, width);
        Sum<T>* to = tile_.data() + i * width;
        const Sum<T>* row = row_as_sums(from.row(first + i), width, to);
        for (std::int64_t k = 0; k < width; ++k) to[k] = row[k] * scale;
      }
      store_left(tile_.data(), rows * width, rows_.data() + first * width);
      if (!transposed) continue;
      transpose(tile_.data(), width, rows, width, across, kQueryTile);
      store_left(across, kQueryTile * width, transposed_.data() + first * width);
    }
  }

  const T* rows(const WindowPiece& piece) const { return rows_.data() + piece.first * width_; }  // [count, d]
  /// [d, count], rows kQueryTile apart.
  const T* transposed(const WindowPiece& piece) const { return transposed_.data() + piece.first * width_; }

 private:
  std::int64_t width_ = 0;
  std::vector<Sum<T>> tile_;
  std::vector<T> rows_, transposed_;
};

/// A thread's memory, reused from head to head.
template <class T>
struct WindowWorkspace {
  std::vector<Sum<T>> sums;
  std::vector<RunningSoftmax<Sum<T>>> running;
  HeadRows<T> queries, upstreams;
  OperandBuffer<T> keys, keys_along, values, weights, d_scores, d_scores_pairs;
};

template <class T>
void forward_window_head(const CausalShape& shape, const variable_list& in, const Tensor& out, const Tensor& log_sums,
                         std::int64_t batch, std::int64_t head, WindowWorkspace<T>& work) {
  const std::int64_t width = shape.width;
  const auto key = head_of<T>(in[1], batch, head);
  const auto value = head_of<T>(in[2], batch, head);
  const auto output = head_of<T>(out, batch, head);
  Sum<T>* log_sum = log_sums.data_ptr<Sum<T>>() + (batch * shape.heads + head) * shape.queries;
  const Right<T> keys = work.keys.right_transposed(key.data, key.stride, shape.keys, width, shape.key_stride());
  const Right<T> values = work.values.right(value.data, value.stride, shape.keys, width);
  work.queries.load(head_of<T>(in[0], batch, head), shape.queries, width, shape.scale<T>(), false);
  work.sums.resize(static_cast<std::size_t>(kQueryTile * (kKeysAtOnce + width)));
  Sum<T>* scores = work.sums.data();
  Sum<T>* attended = scores + kQueryTile * kKeysAtOnce;  // [kQueryTile, d]
  for (std::int64_t tile = 0; tile < shape.tiles(); ++tile) {
    work.running.assign(kQueryTile, {});
    std::fill(attended, attended + kQueryTile * width, Sum<T>{0});
    for (std::int64_t block = 0; block < shape.blocks(); ++block) {
      const WindowPiece piece(shape, tile, block);
      if (piece.keys <= 0) continue;
      product(piece.count, piece.keys, width, work.queries.rows(piece), width, keys.column(piece.key), keys.stride,
              scores, piece.keys, false);
      T* weights = work.weights.destination(scores, piece.count * piece.keys);
      for (std::int64_t i = 0; i < piece.count; ++i) {
        const Sum<T> factor = window_softmax(scores + i * piece.keys, piece.seen(i),
                                             work.running[static_cast<std::size_t>(i)], weights + i * piece.keys);
        for (std::int64_t k = 0; factor != 1 && k < width; ++k) attended[i * width + k] *= factor;
      }
      product(piece.count, width, piece.keys, weights, piece.keys, values.row(piece.key), values.stride, attended,
              width, true);
    }
    for (std::int64_t i = tile * kQueryTile; i < std::min((tile + 1) * kQueryTile, shape.queries); ++i) {
      const auto& row = work.running[static_cast<std::size_t>(i - tile * kQueryTile)];
      Sum<T>* sums = attended + (i - tile * kQueryTile) * width;
      for (std::int64_t k = 0; k < width; ++k) sums[k] /= row.sum;
      store_left<T>(sums, width, output.row(i));
      log_sum[i] = row.maximum + std::log(row.sum);
    }
  }
}

/// `gradients`: of queries, keys and values [B, n, ·, d].
template <class T>
void backward_window_head(const CausalShape& shape, const variable_list& in, const Tensor& out, const Tensor& log_sums,
                          const Tensor& upstream, const variable_list& gradients, std::int64_t batch, std::int64_t head,
                          WindowWorkspace<T>& work) {
  const std::int64_t width = shape.width;
  const auto key = head_of<T>(in[1], batch, head);
  const auto value = head_of<T>(in[2], batch, head);
  const auto output = head_of<T>(out, batch, head);
  const auto d_output = head_of<T>(upstream, batch, head);
  const auto d_query = head_of<T>(gradients[0], batch, head);
  const Sum<T>* log_sum = log_sums.data_ptr<Sum<T>>() + (batch * shape.heads + head) * shape.queries;
  const Right<T> keys = work.keys.right_transposed(key.data, key.stride, shape.keys, width, shape.key_stride());
  const Right<T> keys_along = work.keys_along.right(key.data, key.stride, shape.keys, width);
  const Right<T> values = work.values.right_transposed(value.data, value.stride, shape.keys, width, shape.key_stride());
  work.queries.load(head_of<T>(in[0], batch, head), shape.queries, width, shape.scale<T>(), true);
  work.upstreams.load(d_output, shape.queries, width, 1, true);
  work.sums.assign(static_cast<std::size_t>(width * (2 * shape.key_stride() + shape.queries + 2) + shape.queries +
                                            2 * kQueryTile * kKeysAtOnce),
                   0);
  Sum<T>* d_key = work.sums.data();  // [d, T], as the gradient of values
  Sum<T>* d_value = d_key + width * shape.key_stride();
  Sum<T>* d_queries = d_value + width * shape.key_stride();  // [M, d]
  Sum<T>* dots = d_queries + width * shape.queries;  // [M]: Σ weights · their gradient = output · its gradient
  Sum<T>* scores = dots + shape.queries;
  Sum<T>* d_scores = scores + kQueryTile * kKeysAtOnce;
  Sum<T>* row = d_scores + kQueryTile * kKeysAtOnce;  // [d], and once more
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    if (i + kAhead < shape.queries) output.prefetch(i + kAhead, width);
    dots[i] =
        dot_product(row_as_sums(output.row(i), width, row), row_as_sums(d_output.row(i), width, row + width), width);
  }
  for (std::int64_t block = 0; block < shape.blocks(); ++block) {  // outside: the sums of a block stay in the cache
    for (std::int64_t tile = 0; tile < shape.tiles(); ++tile) {
      const WindowPiece piece(shape, tile, block);
      if (piece.keys <= 0) continue;
      product(piece.count, piece.keys, width, work.queries.rows(piece), width, keys.column(piece.key), keys.stride,
              scores, piece.keys, false);
      product(piece.count, piece.keys, width, work.upstreams.rows(piece), width, values.column(piece.key),
              values.stride, d_scores, piece.keys, false);
      T* weights = work.weights.destination(scores, piece.count * piece.keys);
      T* pairs = work.d_scores_pairs.destination(d_scores, piece.count * piece.keys);
      T* left = work.d_scores.destination(d_scores, piece.count * piece.keys);
      for (std::int64_t i = 0; i < piece.count; i += kPair<T>) {
        PairedRows<T> rows{{}, log_sum + piece.first + i, dots + piece.first + i};
        for (std::int64_t of_pair = 0; of_pair < kPair<T>; ++of_pair) {
          rows.seen[static_cast<std::size_t>(of_pair)] = piece.seen(i + of_pair);
        }
        const std::int64_t at = i * piece.keys;
        window_gradients(scores + at, d_scores + at, rows, weights + at, pairs + at, left + at);
      }
      product(width, piece.keys, piece.count, work.upstreams.transposed(piece), kQueryTile, weights, piece.keys,
              d_value + piece.key, shape.key_stride(), true);
      product(width, piece.keys, piece.count, work.queries.transposed(piece), kQueryTile, pairs, piece.keys,
              d_key + piece.key, shape.key_stride(), true);
      product(piece.count, width, piece.keys, left, piece.keys, keys_along.row(piece.key), keys_along.stride,
              d_queries + piece.first * width, width, true);
    }
  }
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    Sum<T>* gradient = d_queries + i * width;
    for (std::int64_t k = 0; k < width; ++k) gradient[k] *= shape.scale<T>();
    store_left<T>(gradient, width, d_query.row(i));
  }
  store_transposed<T>(d_key, shape.key_stride(), head_of<T>(gradients[1], batch, head), shape.keys, width);
  store_transposed<T>(d_value, shape.key_stride(), head_of<T>(gradients[2], batch, head), shape.keys, width);
}

/// Calls work(batch, head, workspace) for every head, in all threads.
template <class T, class F>
void for_each_window_head(const CausalShape& shape, const F& work) {
  at::parallel_for(0, shape.batch * shape.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    WindowWorkspace<T> memory;
    for (std::int64_t row = begin; row < end; ++row) work(row / shape.heads, row % shape.heads, memory);
    end_products<T>();
  });
}

class FusedWindowAttention : public torch::autograd::Function<FusedWindowAttention> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& query, const Tensor& key, const Tensor& value,
                        std::int64_t window) {
    const CausalShape shape(query, key, window);
    const variable_list in{rows_contiguous(query), rows_contiguous(key), rows_contiguous(value)};
    const Tensor out = empty_heads(query, shape.queries);
    const Tensor log_sums =
        torch::empty({shape.batch, shape.heads, shape.queries}, torch::TensorOptions(sum_type(query.scalar_type())));
    AT_DISPATCH_FLOATING_TYPES_AND(torch::kBFloat16, query.scalar_type(), "window_attention", [&] {
      for_each_window_head<scalar_t>(shape,
                                     [&](std::int64_t batch, std::int64_t head, WindowWorkspace<scalar_t>& work) {
                                       forward_window_head<scalar_t>(shape, in, out, log_sums, batch, head, work);
                                     });
    });
    context->save_for_backward({in[0], in[1], in[2], out, log_sums});
    context->saved_data["window"] = window;
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const CausalShape shape(saved[0], saved[1], context->saved_data["window"].toInt());
    const Tensor d_out = rows_contiguous(upstream[0]);
    const variable_list gradients{empty_heads(saved[0], shape.queries), empty_heads(saved[0], shape.keys),
                                  empty_heads(saved[0], shape.keys)};
    AT_DISPATCH_FLOATING_TYPES_AND(torch::kBFloat16, saved[0].scalar_type(), "window_attention", [&] {
      for_each_window_head<scalar_t>(
          shape, [&](std::int64_t batch, std::int64_t head, WindowWorkspace<scalar_t>& work) {
            backward_window_head<scalar_t>(shape, saved, saved[3], saved[4], d_out, gradients, batch, head, work);
          });
    });
    return {gradients[0], gradients[1], gradients[2], Tensor()};
  }
};

}  // namespace

Tensor causal_attention_fused(const CausalAttentionInput& input) {
  const bool even = input.query.size(2) % 2 == 0 && input.query.size(3) % 2 == 0 && input.key.size(2) % 2 == 0;
  const torch::ScalarType type = product_type(input.query.scalar_type(), even);
  return FusedWindowAttention::apply(input.query.to(type), input.key.to(type), input.value.to(type),
                                     input.window > 0 ? std::min(input.window, input.key.size(2)) : input.key.size(2))
      .to(input.query.scalar_type());
}

}  // namespace xlm
