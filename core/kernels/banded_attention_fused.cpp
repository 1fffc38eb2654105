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
#include "core/kernels/transpose.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Shape {
  std::int64_t batch, heads, queries, band, width;
  std::int64_t keys() const { return band + queries; }
  /// Queries of a tile: more make longer products, but F [Q, L + Q] must stay in the second-level cache and its
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
  if (row.dropped) row.key = Dropout::row_key(settings.seed, batch * shape.heads + head, query);
  return row;
}

/// Scaled queries of one tile, as they are and transposed.
template <class T>
struct QueryTile {
  std::vector<T> scaled, transposed;
  QueryTile(const Shape& shape)
      : scaled(static_cast<std::size_t>(shape.tile() * shape.width)), transposed(scaled.size()) {}
  void load(const Shape& shape, const Matrix<T>& query, std::int64_t first, std::int64_t count) {
    const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(shape.width)));
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t k = 0; k < shape.width; ++k) {
        scaled[static_cast<std::size_t>(i * shape.width + k)] = query.row(first + i)[k] * scale;
      }
    }
    transpose(scaled.data(), shape.width, count, shape.width, transposed.data(), shape.tile());
  }
};

/// F = q·k + q·p of one tile.
template <class T>
void tile_scores(const Shape& shape, const QueryTile<T>& tile, std::int64_t first, std::int64_t count, const T* key_t,
                 const T* position, std::int64_t position_stride, T* scores) {
  const std::int64_t window = shape.band + count;
  product(count, window, shape.width, tile.scaled.data(), shape.width, key_t + first, shape.keys(), scores, window,
          false);
  product(count, shape.band, shape.width, tile.scaled.data(), shape.width, position, position_stride, scores,
          window + 1, true);
}

template <class T>
void clear_outside(T* scores, const Shape& shape, std::int64_t count) {
  const std::int64_t window = shape.band + count;
  for (std::int64_t i = 0; i < count; ++i) {
    std::fill(scores + i * window, scores + i * window + i, T{0});
    std::fill(scores + i * window + i + shape.band, scores + (i + 1) * window, T{0});
  }
}

template <class T>
void forward_head(const Shape& shape, const Settings& settings, const variable_list& in, const Tensor& span,
                  std::int64_t batch, std::int64_t head, const Tensor& out, const Tensor& sums,
                  std::vector<T>& buffer) {
  const auto query = head_of<T>(in[0], batch, head);
  const auto value = head_of<T>(in[2], batch, head);
  const auto output = head_of<T>(out, batch, head);
  T* saved = sums.data_ptr<T>() + (batch * shape.heads + head) * shape.queries * 2;
  const std::int64_t tile = shape.tile();
  buffer.resize(static_cast<std::size_t>(shape.width * shape.keys() + tile * (shape.band + tile)));
  T* key_t = buffer.data();
  T* scores = key_t + shape.width * shape.keys();
  const auto key = head_of<T>(in[1], batch, head);
  transpose(key.data, key.stride, shape.keys(), shape.width, key_t, shape.keys());
  QueryTile<T> queries(shape);
  for (std::int64_t first = 0; first < shape.queries; first += tile) {
    const std::int64_t count = std::min(tile, shape.queries - first);
    const std::int64_t window = shape.band + count;
    queries.load(shape, query, first, count);
    tile_scores(shape, queries, first, count, key_t, in[3].data_ptr<T>(), in[3].stride(0), scores);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = row_settings<T>(shape, settings, span, batch, head, first + i);
      const RowSums<T> row_sums = forward_row(scores + i * (window + 1), row);
      saved[2 * (first + i)] = row_sums.log_sum;
      saved[2 * (first + i) + 1] = row_sums.kept;
    }
    clear_outside(scores, shape, count);
    product(count, shape.width, window, scores, window, value.row(first), value.stride, output.row(first),
            output.stride, false);
  }
}

template <class T>
struct Gradients {
  Tensor query, key, value;  // [B, n, ·, d]
  Tensor span;               // [B, n, M]
  std::vector<T>* position;  // [d, L] of this thread, added to
};

template <class T>
void backward_head(const Shape& shape, const Settings& settings, const variable_list& in, const Tensor& span,
                   const Tensor& out, const Tensor& sums, const Tensor& upstream, const Tensor& position_t,
                   std::int64_t batch, std::int64_t head, const Gradients<T>& gradients, std::vector<T>& buffer) {
  const auto query = head_of<T>(in[0], batch, head);
  const auto key = head_of<T>(in[1], batch, head);
  const auto output = head_of<T>(out, batch, head);
  const auto d_output = head_of<T>(upstream, batch, head);
  const auto d_query = head_of<T>(gradients.query, batch, head);
  const T* saved = sums.data_ptr<T>() + (batch * shape.heads + head) * shape.queries * 2;
  T* d_span = gradients.span.template data_ptr<T>() + (batch * shape.heads + head) * shape.queries;
  const std::int64_t tile = shape.tile();
  const std::int64_t keys = shape.keys();
  const std::int64_t width = shape.width;
  const std::int64_t area = width * keys;
  buffer.assign(static_cast<std::size_t>(4 * area + 2 * tile * (shape.band + tile) + tile * width), T{0});
  T* key_t = buffer.data();
  T* value_t = key_t + area;
  T* d_key_t = value_t + area;
  T* d_value_t = d_key_t + area;
  T* scores = d_value_t + area;
  T* d_scores = scores + tile * (shape.band + tile);
  T* d_output_t = d_scores + tile * (shape.band + tile);
  const auto value = head_of<T>(in[2], batch, head);
  transpose(key.data, key.stride, keys, width, key_t, keys);
  transpose(value.data, value.stride, keys, width, value_t, keys);
  QueryTile<T> queries(shape);
  const T scale = static_cast<T>(1 / std::sqrt(static_cast<double>(width)));
  for (std::int64_t first = 0; first < shape.queries; first += tile) {
    const std::int64_t count = std::min(tile, shape.queries - first);
    const std::int64_t window = shape.band + count;
    queries.load(shape, query, first, count);
    tile_scores(shape, queries, first, count, key_t, in[3].data_ptr<T>(), in[3].stride(0), scores);
    product(count, window, width, d_output.row(first), d_output.stride, value_t + first, keys, d_scores, window, false);
    for (std::int64_t i = 0; i < count; ++i) {
      T dot = 0;  // Σ weights · their gradient = output · its gradient
      for (std::int64_t k = 0; k < width; ++k) dot += output.row(first + i)[k] * d_output.row(first + i)[k];
      const auto row = row_settings<T>(shape, settings, span, batch, head, first + i);
      d_span[first + i] = backward_row(scores + i * (window + 1), d_scores + i * (window + 1), row,
                                       {saved[2 * (first + i)], saved[2 * (first + i) + 1]}, dot);
    }
    clear_outside(scores, shape, count);
    clear_outside(d_scores, shape, count);
    transpose(static_cast<const T*>(d_output.row(first)), d_output.stride, count, width, d_output_t, tile);
    product(width, window, count, d_output_t, tile, scores, window, d_value_t + first, keys, true);
    product(width, window, count, queries.transposed.data(), tile, d_scores, window, d_key_t + first, keys, true);
    product(width, shape.band, count, queries.transposed.data(), tile, d_scores, window + 1, gradients.position->data(),
            shape.band, true);
    product(count, width, window, d_scores, window, key.row(first), key.stride, d_query.row(first), d_query.stride,
            false);
    product(count, width, shape.band, d_scores, window + 1, position_t.data_ptr<T>(), width, d_query.row(first),
            d_query.stride, true);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t k = 0; k < width; ++k) d_query.row(first + i)[k] *= scale;
    }
  }
  const auto d_key = head_of<T>(gradients.key, batch, head);
  const auto d_value = head_of<T>(gradients.value, batch, head);
  transpose(d_key_t, keys, width, keys, d_key.data, d_key.stride);
  transpose(d_value_t, keys, width, keys, d_value.data, d_value.stride);
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
        torch::empty({shape.batch, shape.heads, shape.queries, 2}, query.options().requires_grad(false));
    AT_DISPATCH_FLOATING_TYPES(query.scalar_type(), "banded_attention", [&] {
      at::parallel_for(0, shape.batch * shape.heads, 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<scalar_t> buffer;
        for (std::int64_t row = begin; row < end; ++row) {
          forward_head<scalar_t>(shape, settings, in, spans, row / shape.heads, row % shape.heads, out, sums, buffer);
        }
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
    AT_DISPATCH_FLOATING_TYPES(saved[0].scalar_type(), "banded_attention", [&] {
      std::vector<std::vector<scalar_t>> positions(static_cast<std::size_t>(at::get_num_threads()));
      d_span = torch::empty({shape.batch, shape.heads, shape.queries}, saved[0].options().requires_grad(false));
      at::parallel_for(0, shape.batch * shape.heads, 1, [&](std::int64_t begin, std::int64_t end) {
        std::vector<scalar_t> buffer;
        auto& own = positions[static_cast<std::size_t>(at::get_thread_num())];
        own.assign(static_cast<std::size_t>(shape.width * shape.band), 0);
        const Gradients<scalar_t> gradients{result[0], result[1], result[2], d_span, &own};
        for (std::int64_t row = begin; row < end; ++row) {
          backward_head<scalar_t>(shape, settings, saved, spans, saved[5], saved[6], d_out, position_t,
                                  row / shape.heads, row % shape.heads, gradients, buffer);
        }
      });
      d_position = torch::zeros({shape.width, shape.band}, saved[0].options().requires_grad(false));
      for (const auto& part : positions) {  // in the threads' order: the same sum every time
        if (!part.empty())
          d_position +=
              torch::from_blob(const_cast<scalar_t*>(part.data()), {shape.width, shape.band}, d_position.options());
      }
    });
    result[3] = d_position;
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
  const torch::ScalarType given = input.query.scalar_type();
  const torch::ScalarType type = given == torch::kDouble ? torch::kDouble : torch::kFloat;
  const std::optional<Tensor> span = input.span.defined() ? std::optional(input.span.to(type)) : std::nullopt;
  return FusedBandedAttention::apply(input.query.to(type), input.key.to(type), input.value.to(type),
                                     input.position.to(type), span, input.ramp, input.dropout,
                                     static_cast<std::int64_t>(input.seed))
      .to(given);
}

}  // namespace xlm
