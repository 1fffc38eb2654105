// Relative attention in one kernel on the CPU: tiles of queries below the diagonal (relative_attention_tiles.h), scores
// in cache, recomputed in the backward pass.
//
// B batch, H heads, T positions, Q queries of a tile, d head width.
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

#include "core/kernels/banded_rows.h"
#include "core/kernels/relative_attention.h"
#include "core/kernels/relative_attention_tiles.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RelativeDropout {
  double probability = 0;
  std::uint64_t seed = 0;
};

/// Tensors that both passes read.
struct RelativeTensors {
  Tensor query, key, value;            // [B, H, T, d]
  Tensor content_bias, position_bias;  // [H, d], in the precision of sums
  Tensor out;                          // [B, H, T, d]
  Tensor log_sums;                     // log Σ exp(score) [B, H, T]
};

/// One head of one sequence.
struct Place {
  std::int64_t batch, head;
};

template <class T>
void load_queries(const RelativeShape& shape, const RelativeTensors& in, Place at, std::int64_t first,
                  std::int64_t count, ForwardSpace<T>& space) {
  using S = Sum<T>;
  const auto query = head_of<T>(in.query, at.batch, at.head);
  const S* content_bias = in.content_bias.data_ptr<S>() + at.head * shape.width;
  const S* position_bias = in.position_bias.data_ptr<S>() + at.head * shape.width;
  const S scale = static_cast<S>(shape.scale());
  for (std::int64_t i = 0; i < count; ++i) {
    const T* row = query.row(first + i);
    S* content = space.content.data() + i * shape.width;
    S* distance = space.distance.data() + i * shape.width;
    for (std::int64_t k = 0; k < shape.width; ++k) {
      content[k] = (static_cast<S>(row[k]) + content_bias[k]) * scale;
      distance[k] = (static_cast<S>(row[k]) + position_bias[k]) * scale;
    }
  }
  std::fill(space.content.begin() + count * shape.width, space.content.end(), S{0});
  std::fill(space.distance.begin() + count * shape.width, space.distance.end(), S{0});
}

/// F of the tile that starts at query `first`.
template <class T>
void relative_scores(const RelativeShape& shape, const PositionTable<T>& table, std::int64_t head, std::int64_t first,
                     const Right<T>& keys, ForwardSpace<T>& space) {
  const std::int64_t tile = shape.tile();
  const std::int64_t seen = first + tile;
  const std::int64_t size = tile * shape.width;
  wide_product(tile, seen, shape.width, space.content_left.left(space.content.data(), size), shape.width, keys,
               space.scores.row(0), space.scores.stride(), false);
  wide_product(tile, seen, shape.width, space.distance_left.left(space.distance.data(), size), shape.width,
               table.columns(head, seen), space.scores.by_distance(), space.scores.stride() + 1, true);
}

template <class T>
RowSettings<T> causal_row(const RelativeDropout& dropout, Place at, std::int64_t query) {
  RowSettings<T> row{.band = query + 1,
                     .span = 0,
                     .ramp = 1,
                     .masked = false,
                     .dropped = dropout.probability > 0,
                     .dropout = Dropout(dropout.probability),
                     .key = 0};
  if (row.dropped) row.key = Dropout::key_of(dropout.seed, at.batch, at.head, query);
  return row;
}

/// Sets weights behind the diagonal to zero.
template <class T>
void clear_later(ScoreTile<T>& scores, std::int64_t first, std::int64_t count, std::int64_t seen) {
  for (std::int64_t i = 0; i < count; ++i) std::fill(scores.row(i) + first + i + 1, scores.row(i) + seen, Sum<T>{0});
}

template <class T>
void forward_relative_head(const RelativeShape& shape, const RelativeDropout& dropout, const RelativeTensors& tensors,
                           const PositionTable<T>& table, Place at, ForwardSpace<T>& space) {
  const std::int64_t width = shape.width;
  const auto key = head_of<T>(tensors.key, at.batch, at.head);
  const auto output = head_of<T>(tensors.out, at.batch, at.head);
  Sum<T>* log_sums = tensors.log_sums.data_ptr<Sum<T>>() + (at.batch * shape.heads + at.head) * shape.length;
  const Right<T> keys = space.keys.right_transposed(key.data, key.stride, shape.length, width, shape.stride());
  pack_rows(head_of<T>(tensors.value, at.batch, at.head), 0, shape.length, width, space.value.data());
  const Right<T> values = space.values.right(space.value.data(), width, shape.padded(), width);
  for (std::int64_t first = 0; first < shape.length; first += shape.tile()) {
    const std::int64_t count = std::min(shape.tile(), shape.length - first);
    const std::int64_t seen = first + shape.tile();
    load_queries(shape, tensors, at, first, count, space);
    relative_scores(shape, table, at.head, first, keys, space);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = causal_row<Sum<T>>(dropout, at, first + i);
      log_sums[first + i] = forward_row(space.scores.row(i), row).log_sum;
    }
    clear_later(space.scores, first, count, seen);
    deep_product(shape.tile(), width, seen, space.scores.left(seen), space.scores.stride(), values,
                 space.output.data());
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t k = 0; k < width; ++k) {
        output.row(first + i)[k] = static_cast<T>(space.output.data()[i * width + k]);
      }
    }
  }
}

/// Gradients of one call. Those shared by the batch are kept separately until all exist, so that their sum has one
/// order.
struct RelativeGradients {
  Tensor query, key, value;            // [B, H, T, d]
  Tensor position_t;                   // by distance, largest first [B, H, d, stride]
  Tensor content_bias, position_bias;  // [B, H, d]
};

/// The gradient of a tile's scores in d_scores, its weights in scores.
template <class T>
void backward_rows(const RelativeShape& shape, const RelativeDropout& dropout, const RelativeTensors& tensors,
                   const Tensor& upstream, const Right<T>& values_t, Place at, std::int64_t first, std::int64_t count,
                   BackwardSpace<T>& space) {
  using S = Sum<T>;
  const std::int64_t width = shape.width;
  const std::int64_t seen = first + shape.tile();
  const auto output = head_of<T>(tensors.out, at.batch, at.head);
  const auto given = head_of<T>(upstream, at.batch, at.head);
  const S* log_sums = tensors.log_sums.data_ptr<S>() + (at.batch * shape.heads + at.head) * shape.length;
  for (std::int64_t i = 0; i < count; ++i) {
    std::transform(given.row(first + i), given.row(first + i) + width, space.d_output.begin() + i * width,
                   [](T x) { return static_cast<S>(x); });
  }
  std::fill(space.d_output.begin() + count * width, space.d_output.end(), S{0});
  wide_product(shape.tile(), seen, width, space.d_output_left.left(space.d_output.data(), shape.tile() * width), width,
               values_t, space.d_scores.row(0), space.d_scores.stride(), false);
  for (std::int64_t i = 0; i < count; ++i) {
    S dot = 0;  // Σ weights · their gradient = output · its gradient
    for (std::int64_t k = 0; k < width; ++k) {
      dot += static_cast<S>(output.row(first + i)[k]) * space.d_output.data()[i * width + k];
    }
    const auto row = causal_row<S>(dropout, at, first + i);
    backward_row(space.scores.row(i), space.d_scores.row(i), row, {log_sums[first + i], S{1}}, dot);
  }
  clear_later(space.scores, first, count, seen);
  clear_later(space.d_scores, first, count, seen);
}

/// What a tile adds to the gradients of values, keys and positions.
template <class T>
void add_key_gradients(const RelativeShape& shape, std::int64_t first, Sum<T>* d_position_t, BackwardSpace<T>& space) {
  const std::int64_t tile = shape.tile();
  const std::int64_t width = shape.width;
  const std::int64_t seen = first + tile;
  const auto add = [&](const std::vector<Sum<T>>& rows, const Sum<T>* scores, std::int64_t scores_stride, Sum<T>* sum) {
    transpose(rows.data(), width, tile, width, space.transposed.data(), tile);
    wide_product(width, seen, tile, space.transposed_left.left(space.transposed.data(), width * tile), tile,
                 space.scores_right.right(scores, scores_stride, tile, seen), sum, shape.stride(), true);
  };
  add(space.d_output, space.scores.row(0), space.scores.stride(), space.d_value_t.data());
  add(space.content, space.d_scores.row(0), space.d_scores.stride(), space.d_key_t.data());
  add(space.distance, space.d_scores.by_distance(), space.d_scores.stride() + 1, d_position_t + shape.padded() - seen);
}

/// sum [width] += the column sums of rows [count, width]; one tile at a time, so that long sums stay exact.
template <class T>
void add_columns(const T* rows, std::int64_t count, std::int64_t width, T* sum) {
  for (std::int64_t k = 0; k < width; ++k) {
    T tile_sum = 0;
    for (std::int64_t i = 0; i < count; ++i) tile_sum += rows[i * width + k];
    sum[k] += tile_sum;
  }
}

/// The gradients of a tile's queries, and its share of those of the biases.
template <class T>
void query_gradients(const RelativeShape& shape, const PositionTable<T>& table, const Right<T>& keys, Place at,
                     std::int64_t first, std::int64_t count, const RelativeGradients& gradients,
                     BackwardSpace<T>& space) {
  using S = Sum<T>;
  const std::int64_t width = shape.width;
  const std::int64_t seen = first + shape.tile();
  deep_product(shape.tile(), width, seen, space.d_scores.left(seen), space.d_scores.stride(), keys,
               space.d_content.data());
  deep_product(shape.tile(), width, seen, space.d_scores.left_by_distance(), space.d_scores.stride() + 1,
               table.rows(at.head, seen), space.d_distance.data());
  const S scale = static_cast<S>(shape.scale());
  for (S& x : space.d_content) x *= scale;
  for (S& x : space.d_distance) x *= scale;
  const auto d_query = head_of<T>(gradients.query, at.batch, at.head);
  for (std::int64_t i = 0; i < count; ++i) {
    T* row = d_query.row(first + i);
    for (std::int64_t k = 0; k < width; ++k) {
      row[k] = static_cast<T>(space.d_content.data()[i * width + k] + space.d_distance.data()[i * width + k]);
    }
  }
  const std::int64_t bias = (at.batch * shape.heads + at.head) * width;
  add_columns(space.d_content.data(), count, width, gradients.content_bias.data_ptr<S>() + bias);
  add_columns(space.d_distance.data(), count, width, gradients.position_bias.data_ptr<S>() + bias);
}

template <class T>
void backward_relative_head(const RelativeShape& shape, const RelativeDropout& dropout, const RelativeTensors& tensors,
                            const PositionTable<T>& table, const Tensor& upstream, Place at,
                            const RelativeGradients& gradients, BackwardSpace<T>& space) {
  using S = Sum<T>;
  const std::int64_t width = shape.width;
  const auto key = head_of<T>(tensors.key, at.batch, at.head);
  const auto value = head_of<T>(tensors.value, at.batch, at.head);
  const Right<T> keys_t = space.keys.right_transposed(key.data, key.stride, shape.length, width, shape.stride());
  const Right<T> values_t =
      space.values.right_transposed(value.data, value.stride, shape.length, width, shape.stride());
  pack_rows(key, 0, shape.length, width, space.key.data());
  const Right<T> keys = space.keys_by_row.right(space.key.data(), width, shape.padded(), width);
  std::ranges::fill(space.d_key_t, S{0});
  std::ranges::fill(space.d_value_t, S{0});
  S* d_position_t = gradients.position_t.data_ptr<S>() +
                    (at.batch * shape.heads + at.head) * static_cast<std::int64_t>(shape.table());
  for (std::int64_t first = 0; first < shape.length; first += shape.tile()) {
    const std::int64_t count = std::min(shape.tile(), shape.length - first);
    load_queries(shape, tensors, at, first, count, space);
    relative_scores(shape, table, at.head, first, keys_t, space);
    backward_rows(shape, dropout, tensors, upstream, values_t, at, first, count, space);
    add_key_gradients(shape, first, d_position_t, space);
    query_gradients(shape, table, keys, at, first, count, gradients, space);
  }
  store_transposed<T>(space.d_key_t.data(), shape.stride(), head_of<T>(gradients.key, at.batch, at.head), shape.length,
                      width);
  store_transposed<T>(space.d_value_t.data(), shape.stride(), head_of<T>(gradients.value, at.batch, at.head),
                      shape.length, width);
}

/// Calls f(Space&, Place) for every head of every sequence, in parallel.
template <class T, class Space, class F>
void for_each_head(const RelativeShape& shape, const F& f) {
  at::parallel_for(0, shape.batch * shape.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    Space space(shape);
    for (std::int64_t i = begin; i < end; ++i) f(space, Place{i / shape.heads, i % shape.heads});
    end_products<T>();
  });
}

/// The position table's gradient [H, T, d] from those of the sequences.
Tensor sum_position_gradients(const RelativeShape& shape, const Tensor& position_t) {
  const Tensor sum = torch::empty({shape.length, shape.heads, shape.width}, position_t.options()).transpose(0, 1);
  for (std::int64_t b = 1; b < shape.batch; ++b) position_t[0].add_(position_t[b]);
  return sum.copy_(position_t[0].narrow(2, shape.padded() - shape.length, shape.length).transpose(1, 2).flip(1));
}

RelativeShape shape_of(const Tensor& query) { return {query.size(0), query.size(1), query.size(2), query.size(3)}; }

class FusedRelativeAttention : public torch::autograd::Function<FusedRelativeAttention> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& query, const Tensor& key, const Tensor& value,
                        const Tensor& position, const Tensor& content_bias, const Tensor& position_bias, double dropout,
                        std::int64_t seed) {
    const RelativeShape shape = shape_of(query);
    const RelativeDropout settings{dropout, static_cast<std::uint64_t>(seed)};
    const RelativeTensors tensors{
        .query = rows_contiguous(query),
        .key = rows_contiguous(key),
        .value = rows_contiguous(value),
        .content_bias = content_bias.contiguous(),
        .position_bias = position_bias.contiguous(),
        .out = empty_heads(query, shape.length),
        .log_sums = torch::empty({shape.batch, shape.heads, shape.length}, content_bias.scalar_type())};
    AT_DISPATCH_FLOATING_TYPES_AND(torch::kBFloat16, query.scalar_type(), "relative_attention", [&] {
      const PositionTable<scalar_t> table(shape, position);
      for_each_head<scalar_t, ForwardSpace<scalar_t>>(shape, [&](ForwardSpace<scalar_t>& space, Place at) {
        forward_relative_head<scalar_t>(shape, settings, tensors, table, at, space);
      });
    });
    context->save_for_backward({tensors.query, tensors.key, tensors.value, tensors.content_bias, tensors.position_bias,
                                tensors.out, tensors.log_sums, position});
    context->saved_data["dropout"] = dropout;
    context->saved_data["seed"] = seed;
    return tensors.out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const RelativeTensors tensors{saved[0], saved[1], saved[2], saved[3], saved[4], saved[5], saved[6]};
    const RelativeShape shape = shape_of(tensors.query);
    const RelativeDropout settings{context->saved_data["dropout"].toDouble(),
                                   static_cast<std::uint64_t>(context->saved_data["seed"].toInt())};
    const Tensor d_out = rows_contiguous(upstream[0]);
    const torch::TensorOptions options(tensors.content_bias.scalar_type());
    const RelativeGradients gradients{
        .query = empty_heads(tensors.query, shape.length),
        .key = empty_heads(tensors.query, shape.length),
        .value = empty_heads(tensors.query, shape.length),
        .position_t = torch::zeros({shape.batch, shape.heads, shape.width, shape.stride()}, options),
        .content_bias = torch::zeros({shape.batch, shape.heads, shape.width}, options),
        .position_bias = torch::zeros({shape.batch, shape.heads, shape.width}, options)};
    AT_DISPATCH_FLOATING_TYPES_AND(torch::kBFloat16, tensors.query.scalar_type(), "relative_attention", [&] {
      const PositionTable<scalar_t> table(shape, saved[7]);
      for_each_head<scalar_t, BackwardSpace<scalar_t>>(shape, [&](BackwardSpace<scalar_t>& space, Place at) {
        backward_relative_head<scalar_t>(shape, settings, tensors, table, d_out, at, gradients, space);
      });
    });
    return {gradients.query,
            gradients.key,
            gradients.value,
            sum_position_gradients(shape, gradients.position_t).to(saved[7].scalar_type()),
            gradients.content_bias.sum(0),
            gradients.position_bias.sum(0),
            Tensor(),
            Tensor()};
  }
};

}  // namespace

Tensor relative_attention_fused(const RelativeAttentionInput& input) {
  const torch::ScalarType given = input.query.scalar_type();
  const torch::ScalarType type = product_type(given, input.query.size(3) % 2 == 0);
  const torch::ScalarType sums = sum_type(type);
  return FusedRelativeAttention::apply(input.query.to(type), input.key.to(type), input.value.to(type),
                                       input.position.to(type), input.content_bias.to(sums),
                                       input.position_bias.to(sums), input.dropout,
                                       static_cast<std::int64_t>(input.seed))
      .to(given);
}

}  // namespace xlm
