// Banded attention in one kernel on the CPU: tiles of queries, scores in cache, recomputed in the backward pass.
//
// A tile holds Q queries; it sees W = L + Q keys. Its scores lie in one buffer F [Q, W]; query i's band is at columns
// i … i + L − 1, that is, a [Q, L] matrix whose rows are W + 1 apart: products with the position table read and write
// it as such, and nothing is ever shifted.
//
// B batch, n heads, M queries, T = L + M keys, d head width.
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/kernels/attention_heads.h"
#include "core/kernels/banded_attention.h"
#include "core/kernels/banded_rows.h"
#include "core/kernels/packed_operands.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Shape {
  std::int64_t batch, heads, queries, band, width;
  std::int64_t keys() const { return band + queries; }
  template <class T>
  Sum<T> scale() const {
    return static_cast<Sum<T>>(1 / std::sqrt(static_cast<double>(width)));
  }
  /// Queries of a tile. More make longer products, but F [Q, L + Q] must stay in the second-level cache, and its
  /// triangles outside the band are wasted.
  std::int64_t tile() const { return std::min<std::int64_t>(queries, band <= 1536 && band >= 192 ? 64 : 32); }
};

struct Settings {
  double ramp = 0;
  double dropout = 0;
  std::uint64_t seed = 0;
};

template <class T>
RowSettings<T> row_settings(const Shape& shape, const Settings& settings, const Tensor& span, std::int64_t batch,
                            std::int64_t head, std::int64_t query) {
  RowSettings<T> row{.band = shape.band,
                     .span = 0,
                     .ramp = static_cast<T>(settings.ramp),
                     .masked = span.defined(),
                     .dropped = settings.dropout > 0,
                     .dropout = Dropout(settings.dropout),
                     .key = 0};
  if (row.masked) {
    row.span = span.data_ptr<T>()[batch * span.stride(0) + head * span.stride(1) + query * span.stride(2)];
  }
  if (row.dropped) row.key = Dropout::key_of(settings.seed, batch, head, query);
  return row;
}

/// Rows of one tile, times a factor, as left operands: unchanged, and transposed with rows tile() apart.
template <class T>
class TileRows {
 public:
  explicit TileRows(const Shape& shape)
      : width_(shape.width),
        tile_(shape.tile()),
        scaled_(static_cast<std::size_t>(tile_ * width_)),
        across_(scaled_.size()) {}

  void load(const Matrix<T>& from, std::int64_t first, std::int64_t count, Sum<T> scale) {
    for (std::int64_t i = 0; i < count; ++i) {
      const T* row = from.row(first + i);
      for (std::int64_t k = 0; k < width_; ++k) {
        scaled_[static_cast<std::size_t>(i * width_ + k)] = static_cast<Sum<T>>(row[k]) * scale;
      }
    }
    transpose(scaled_.data(), width_, count, width_, across_.data(), tile_);
    rows = rows_buffer_.left(scaled_.data(), count * width_);
    transposed = transposed_buffer_.left(across_.data(), tile_ * width_);
  }

  const T* rows = nullptr;
  const T* transposed = nullptr;

 private:
  std::int64_t width_, tile_;
  std::vector<Sum<T>> scaled_, across_;
  OperandBuffer<T> rows_buffer_, transposed_buffer_;
};

/// The position table as the right operand of scores [d, L] and of the gradient of queries [L, d].
template <class T>
struct Positions {
  OperandBuffer<T> by_column_buffer, by_row_buffer;
  Right<T> by_column, by_row;
  /// `transposed` [L, d] may be undefined if no gradient is requested.
  Positions(const Tensor& position, const Tensor& transposed)
      : by_column(
            by_column_buffer.right(position.data_ptr<T>(), position.stride(0), position.size(0), position.size(1))),
        by_row(transposed.defined() ? by_row_buffer.right(transposed.data_ptr<T>(), transposed.size(1),
                                                          transposed.size(0), transposed.size(1))
                                    : Right<T>{nullptr, 0}) {}
};

template <class T>
void tile_scores(const Shape& shape, const TileRows<T>& queries, std::int64_t first, std::int64_t count,
                 const Right<T>& keys, const Right<T>& position, Sum<T>* scores) {
  const std::int64_t window = shape.band + count;
  product(count, window, shape.width, queries.rows, shape.width, keys.column(first), keys.stride, scores, window,
          false);
  product(count, shape.band, shape.width, queries.rows, shape.width, position.data, position.stride, scores, window + 1,
          true);
}

template <class T>
void clear_outside(T* scores, const Shape& shape, std::int64_t count) {
  const std::int64_t window = shape.band + count;
  for (std::int64_t i = 0; i < count; ++i) {
    std::fill(scores + i * window, scores + i * window + i, T{0});
    std::fill(scores + i * window + i + shape.band, scores + (i + 1) * window, T{0});
  }
}

/// A thread's memory, reused from head to head.
template <class T>
struct Workspace {
  std::vector<Sum<T>> sums;
  OperandBuffer<T> keys, keys_along, values, weights, d_scores, d_scores_pairs, d_scores_skewed;
};

template <class T>
void forward_head(const Shape& shape, const Settings& settings, const variable_list& in, const Tensor& span,
                  std::int64_t batch, std::int64_t head, const Positions<T>& positions, const Tensor& out,
                  const Tensor& sums, Workspace<T>& work) {
  const auto query = head_of<T>(in[0], batch, head);
  const auto key = head_of<T>(in[1], batch, head);
  const auto value = head_of<T>(in[2], batch, head);
  const auto output = head_of<T>(out, batch, head);
  Sum<T>* saved = sums.data_ptr<Sum<T>>() + (batch * shape.heads + head) * shape.queries * 2;
  const std::int64_t tile = shape.tile();
  work.sums.resize(static_cast<std::size_t>(tile * (shape.band + tile + shape.width)));
  Sum<T>* scores = work.sums.data();
  Sum<T>* attended = scores + tile * (shape.band + tile);  // [tile, d]
  const Right<T> keys = work.keys.right_transposed(key.data, key.stride, shape.keys(), shape.width, shape.keys());
  const Right<T> values = work.values.right(value.data, value.stride, shape.keys(), shape.width);
  TileRows<T> queries(shape);
  for (std::int64_t first = 0; first < shape.queries; first += tile) {
    const std::int64_t count = std::min(tile, shape.queries - first);
    const std::int64_t window = shape.band + count;
    queries.load(query, first, count, shape.scale<T>());
    tile_scores(shape, queries, first, count, keys, positions.by_column, scores);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = row_settings<Sum<T>>(shape, settings, span, batch, head, first + i);
      const RowSums<Sum<T>> row_sums = forward_row(scores + i * (window + 1), row);
      saved[2 * (first + i)] = row_sums.log_sum;
      saved[2 * (first + i) + 1] = row_sums.kept;
    }
    clear_outside(scores, shape, count);
    product(count, shape.width, window, work.weights.left(scores, count * window), window, values.row(first),
            values.stride, attended, shape.width, false);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t k = 0; k < shape.width; ++k) {
        output.row(first + i)[k] = static_cast<T>(attended[i * shape.width + k]);
      }
    }
  }
}

template <class T>
struct Gradients {
  Tensor query, key, value;       // [B, n, ·, d]
  Tensor span;                    // [B, n, M]
  std::vector<Sum<T>>* position;  // [d, L] of this thread, added to
};

template <class T>
void backward_head(const Shape& shape, const Settings& settings, const variable_list& in, const Tensor& span,
                   const Tensor& out, const Tensor& sums, const Tensor& upstream, const Positions<T>& positions,
                   std::int64_t batch, std::int64_t head, const Gradients<T>& gradients, Workspace<T>& work) {
  const auto query = head_of<T>(in[0], batch, head);
  const auto key = head_of<T>(in[1], batch, head);
  const auto value = head_of<T>(in[2], batch, head);
  const auto output = head_of<T>(out, batch, head);
  const auto d_output = head_of<T>(upstream, batch, head);
  const auto d_query = head_of<T>(gradients.query, batch, head);
  const Sum<T>* saved = sums.data_ptr<Sum<T>>() + (batch * shape.heads + head) * shape.queries * 2;
  Sum<T>* d_span = gradients.span.template data_ptr<Sum<T>>() + (batch * shape.heads + head) * shape.queries;
  const std::int64_t tile = shape.tile();
  const std::int64_t all = shape.keys();
  const std::int64_t width = shape.width;
  work.sums.assign(static_cast<std::size_t>(2 * width * all + 2 * tile * (shape.band + tile) + tile * width), 0);
  Sum<T>* d_key = work.sums.data();  // [d, T], as the gradient of values
  Sum<T>* d_value = d_key + width * all;
  Sum<T>* scores = d_value + width * all;
  Sum<T>* d_scores = scores + tile * (shape.band + tile);
  Sum<T>* d_queries = d_scores + tile * (shape.band + tile);  // [tile, d]
  const Right<T> keys = work.keys.right_transposed(key.data, key.stride, all, width, all);
  const Right<T> keys_along = work.keys_along.right(key.data, key.stride, all, width);
  const Right<T> values = work.values.right_transposed(value.data, value.stride, all, width, all);
  TileRows<T> queries(shape);
  TileRows<T> upstreams(shape);
  const Sum<T> scale = shape.scale<T>();
  for (std::int64_t first = 0; first < shape.queries; first += tile) {
    const std::int64_t count = std::min(tile, shape.queries - first);
    const std::int64_t window = shape.band + count;
    queries.load(query, first, count, scale);
    upstreams.load(d_output, first, count, 1);
    tile_scores(shape, queries, first, count, keys, positions.by_column, scores);
    product(count, window, width, upstreams.rows, width, values.column(first), values.stride, d_scores, window, false);
    for (std::int64_t i = 0; i < count; ++i) {
      Sum<T> dot = 0;  // Σ weights · their gradient = output · its gradient
      for (std::int64_t k = 0; k < width; ++k) {
        dot += static_cast<Sum<T>>(output.row(first + i)[k]) * static_cast<Sum<T>>(d_output.row(first + i)[k]);
      }
      const auto row = row_settings<Sum<T>>(shape, settings, span, batch, head, first + i);
      d_span[first + i] = backward_row(scores + i * (window + 1), d_scores + i * (window + 1), row,
                                       {saved[2 * (first + i)], saved[2 * (first + i) + 1]}, dot);
    }
    clear_outside(scores, shape, count);
    clear_outside(d_scores, shape, count);
    const Right<T> weights = work.weights.right(scores, window, count, window);
    product(width, window, count, upstreams.transposed, tile, weights.data, weights.stride, d_value + first, all, true);
    const Right<T> pairs = work.d_scores_pairs.right(d_scores, window, count, window);
    product(width, window, count, queries.transposed, tile, pairs.data, pairs.stride, d_key + first, all, true);
    const Right<T> skewed = work.d_scores_skewed.right(d_scores, window + 1, count, shape.band);
    product(width, shape.band, count, queries.transposed, tile, skewed.data, skewed.stride, gradients.position->data(),
            shape.band, true);
    const T* left = work.d_scores.left(d_scores, count * window);
    product(count, width, window, left, window, keys_along.row(first), keys_along.stride, d_queries, width, false);
    product(count, width, shape.band, left, window + 1, positions.by_row.data, positions.by_row.stride, d_queries,
            width, true);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t k = 0; k < width; ++k) {
        d_query.row(first + i)[k] = static_cast<T>(d_queries[i * width + k] * scale);
      }
    }
  }
  store_transposed<T>(d_key, all, head_of<T>(gradients.key, batch, head), all, width);
  store_transposed<T>(d_value, all, head_of<T>(gradients.value, batch, head), all, width);
}

class FusedBandedAttention : public torch::autograd::Function<FusedBandedAttention> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& query, const Tensor& key, const Tensor& value,
                        const Tensor& position, const std::optional<Tensor>& given_span, double ramp, double dropout,
                        std::int64_t seed) {
    const Tensor span = given_span.value_or(Tensor());
    const Shape shape{query.size(0), query.size(1), query.size(2), position.size(1), query.size(3)};
    const Settings settings{ramp, dropout, static_cast<std::uint64_t>(seed)};
    const variable_list in{rows_contiguous(query), rows_contiguous(key), rows_contiguous(value),
                           rows_contiguous(position)};
    const Tensor spans = expand_span(span, shape);
    const Tensor out = empty_heads(query, shape.queries);
    const Tensor sums =
        torch::empty({shape.batch, shape.heads, shape.queries, 2}, torch::TensorOptions(sum_type(query.scalar_type())));
    AT_DISPATCH_FLOATING_TYPES_AND(torch::kBFloat16, query.scalar_type(), "banded_attention", [&] {
      const Positions<scalar_t> positions(in[3], {});
      at::parallel_for(0, shape.batch * shape.heads, 1, [&](std::int64_t begin, std::int64_t end) {
        Workspace<scalar_t> work;
        for (std::int64_t row = begin; row < end; ++row) {
          forward_head<scalar_t>(shape, settings, in, spans, row / shape.heads, row % shape.heads, positions, out, sums,
                                 work);
        }
        end_products<scalar_t>();
      });
    });
    context->save_for_backward({in[0], in[1], in[2], in[3], span, out, sums});
    context->saved_data["ramp"] = ramp;
    context->saved_data["dropout"] = dropout;
    context->saved_data["seed"] = seed;
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const Settings settings{context->saved_data["ramp"].toDouble(), context->saved_data["dropout"].toDouble(),
                            static_cast<std::uint64_t>(context->saved_data["seed"].toInt())};
    const Shape shape{saved[0].size(0), saved[0].size(1), saved[0].size(2), saved[3].size(1), saved[0].size(3)};
    const Tensor spans = expand_span(saved[4], shape);
    const Tensor d_out = rows_contiguous(upstream[0]);
    const Tensor position_t = saved[3].t().contiguous();  // [L, d]
    Tensor d_position;
    Tensor d_span;
    variable_list result(8);
    result[0] = empty_heads(saved[0], shape.queries);
    result[1] = empty_heads(saved[0], shape.keys());
    result[2] = empty_heads(saved[0], shape.keys());
    AT_DISPATCH_FLOATING_TYPES_AND(torch::kBFloat16, saved[0].scalar_type(), "banded_attention", [&] {
      using SumType = Sum<scalar_t>;
      const torch::TensorOptions options(sum_type(saved[0].scalar_type()));
      const Positions<scalar_t> positions(saved[3], position_t);
      std::vector<std::vector<SumType>> shares(static_cast<std::size_t>(at::get_num_threads()));
      d_span = torch::empty({shape.batch, shape.heads, shape.queries}, options);
      at::parallel_for(0, shape.batch * shape.heads, 1, [&](std::int64_t begin, std::int64_t end) {
        Workspace<scalar_t> work;
        auto& own = shares[static_cast<std::size_t>(at::get_thread_num())];
        own.assign(static_cast<std::size_t>(shape.width * shape.band), 0);
        const Gradients<scalar_t> gradients{result[0], result[1], result[2], d_span, &own};
        for (std::int64_t row = begin; row < end; ++row) {
          backward_head<scalar_t>(shape, settings, saved, spans, saved[5], saved[6], d_out, positions,
                                  row / shape.heads, row % shape.heads, gradients, work);
        }
        end_products<scalar_t>();
      });
      d_position = torch::zeros({shape.width, shape.band}, options);
      for (auto& share : shares) {  // in the threads' order, so that the sum is always the same
        if (!share.empty()) d_position += torch::from_blob(share.data(), {shape.width, shape.band}, options);
      }
    });
    result[3] = d_position.to(saved[3].scalar_type());
    if (saved[4].defined()) result[4] = d_span.unsqueeze(-1).sum_to_size(saved[4].sizes());
    return result;
  }

 private:
  static Tensor expand_span(const Tensor& span, const Shape& shape) {
    return span.defined() ? span.detach().expand({shape.batch, shape.heads, shape.queries, 1}) : span;
  }
};

}  // namespace

Tensor banded_attention_fused(const BandedAttentionInput& input) {
  const bool even = input.query.size(2) % 2 == 0 && input.query.size(3) % 2 == 0 && input.position.size(1) % 2 == 0;
  const torch::ScalarType type = product_type(input.query.scalar_type(), even);
  const std::optional<Tensor> span = input.span.defined() ? std::optional(input.span.to(sum_type(type))) : std::nullopt;
  return FusedBandedAttention::apply(input.query.to(type), input.key.to(type), input.value.to(type),
                                     input.position.to(type), span, input.ramp, input.dropout,
                                     static_cast<std::int64_t>(input.seed))
      .to(input.query.scalar_type());
}

}  // namespace xlm
