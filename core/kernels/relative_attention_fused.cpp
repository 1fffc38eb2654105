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
#include "core/kernels/transpose.h"

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
  Tensor content_bias, position_bias;  // [H, d]
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
  const auto query = head_of<T>(in.query, at.batch, at.head);
  const T* content_bias = in.content_bias.data_ptr<T>() + at.head * shape.width;
  const T* position_bias = in.position_bias.data_ptr<T>() + at.head * shape.width;
  const T scale = static_cast<T>(shape.scale());
  for (std::int64_t i = 0; i < count; ++i) {
    const T* row = query.row(first + i);
    T* content = space.content.data() + i * shape.width;
    T* distance = space.distance.data() + i * shape.width;
    for (std::int64_t k = 0; k < shape.width; ++k) {
      content[k] = (row[k] + content_bias[k]) * scale;
      distance[k] = (row[k] + position_bias[k]) * scale;
    }
  }
  std::fill(space.content.begin() + count * shape.width, space.content.end(), T{0});
  std::fill(space.distance.begin() + count * shape.width, space.distance.end(), T{0});
}

/// F of the tile that starts at query `first`.
template <class T>
void relative_scores(const RelativeShape& shape, const PositionTable& table, std::int64_t head, std::int64_t first,
                     ForwardSpace<T>& space) {
  const std::int64_t tile = shape.tile();
  const std::int64_t seen = first + tile;
  const T* position_t = table.transposed[head].const_data_ptr<T>() + shape.padded() - seen;
  wide_product(tile, seen, shape.width, space.content.data(), shape.width, space.key_t.data(), shape.stride(),
               space.scores.row(0), space.scores.stride(), false);
  wide_product(tile, seen, shape.width, space.distance.data(), shape.width, position_t, shape.stride(),
               space.scores.by_distance(), space.scores.stride() + 1, true);
}

template <class T>
RowSettings<T> causal_row(const RelativeShape& shape, const RelativeDropout& dropout, Place at, std::int64_t query) {
  RowSettings<T> row{.band = query + 1,
                     .span = 0,
                     .ramp = 1,
                     .masked = false,
                     .dropped = dropout.probability > 0,
                     .dropout = Dropout(dropout.probability),
                     .key = 0};
  if (row.dropped) row.key = Dropout::row_key(dropout.seed, at.batch * shape.heads + at.head, query);
  return row;
}

/// No weight behind the diagonal.
template <class T>
void clear_later(ScoreTile<T>& scores, std::int64_t first, std::int64_t count, std::int64_t seen) {
  for (std::int64_t i = 0; i < count; ++i) std::fill(scores.row(i) + first + i + 1, scores.row(i) + seen, T{0});
}

template <class T>
void forward_relative_head(const RelativeShape& shape, const RelativeDropout& dropout, const RelativeTensors& tensors,
                           const PositionTable& table, Place at, ForwardSpace<T>& space) {
  const std::int64_t width = shape.width;
  const auto key = head_of<T>(tensors.key, at.batch, at.head);
  const auto output = head_of<T>(tensors.out, at.batch, at.head);
  T* log_sums = tensors.log_sums.data_ptr<T>() + (at.batch * shape.heads + at.head) * shape.length;
  transpose(key.data, key.stride, shape.length, width, space.key_t.data(), shape.stride());
  pack_rows(head_of<T>(tensors.value, at.batch, at.head), 0, shape.length, width, space.value.data());
  for (std::int64_t first = 0; first < shape.length; first += shape.tile()) {
    const std::int64_t count = std::min(shape.tile(), shape.length - first);
    const std::int64_t seen = first + shape.tile();
    load_queries(shape, tensors, at, first, count, space);
    relative_scores(shape, table, at.head, first, space);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto row = causal_row<T>(shape, dropout, at, first + i);
      log_sums[first + i] = forward_row(space.scores.row(i), row).log_sum;
    }
    clear_later(space.scores, first, count, seen);
    deep_product(shape.tile(), width, seen, space.scores.row(0), space.scores.stride(), space.value.data(), width,
                 space.output.data());
    for (std::int64_t i = 0; i < count; ++i) {
      std::copy_n(space.output.data() + i * width, width, output.row(first + i));
    }
  }
}

/// Gradients of one call; those shared by the batch are kept apart until all are there, so that their sum has one
/// order.
struct RelativeGradients {
  Tensor query, key, value;            // [B, H, T, d]
  Tensor position_t;                   // farthest first [B, H, d, stride]
  Tensor content_bias, position_bias;  // [B, H, d]
};

/// The gradient of a tile's scores in d_scores, its weights in scores.
template <class T>
void backward_rows(const RelativeShape& shape, const RelativeDropout& dropout, const RelativeTensors& tensors,
                   const Tensor& upstream, Place at, std::int64_t first, std::int64_t count, BackwardSpace<T>& space) {
  const std::int64_t width = shape.width;
  const std::int64_t seen = first + shape.tile();
  const auto output = head_of<T>(tensors.out, at.batch, at.head);
  const T* log_sums = tensors.log_sums.data_ptr<T>() + (at.batch * shape.heads + at.head) * shape.length;
  pack_rows(head_of<T>(upstream, at.batch, at.head), first, count, width, space.d_output.data());
  std::fill(space.d_output.begin() + count * width, space.d_output.end(), T{0});
  wide_product(shape.tile(), seen, width, space.d_output.data(), width, space.value_t.data(), shape.stride(),
               space.d_scores.row(0), space.d_scores.stride(), false);
  for (std::int64_t i = 0; i < count; ++i) {
    T dot = 0;  // Σ weights · their gradient = output · its gradient
    for (std::int64_t k = 0; k < width; ++k) dot += output.row(first + i)[k] * space.d_output.data()[i * width + k];
    const auto row = causal_row<T>(shape, dropout, at, first + i);
    backward_row(space.scores.row(i), space.d_scores.row(i), row, {log_sums[first + i], T{1}}, dot);
  }
  clear_later(space.scores, first, count, seen);
  clear_later(space.d_scores, first, count, seen);
}

/// What a tile adds to the gradients of values, keys and positions.
template <class T>
void add_key_gradients(const RelativeShape& shape, std::int64_t first, T* d_position_t, BackwardSpace<T>& space) {
  const std::int64_t tile = shape.tile();
  const std::int64_t seen = first + tile;
  const auto add = [&](const std::vector<T>& rows, const T* scores, std::int64_t scores_stride, T* sum) {
    transpose(rows.data(), shape.width, tile, shape.width, space.transposed.data(), tile);
    wide_product(shape.width, seen, tile, space.transposed.data(), tile, scores, scores_stride, sum, shape.stride(),
                 true);
  };
  add(space.d_output, space.scores.row(0), space.scores.stride(), space.d_value_t.data());
  add(space.content, space.d_scores.row(0), space.d_scores.stride(), space.d_key_t.data());
  add(space.distance, space.d_scores.by_distance(), space.d_scores.stride() + 1, d_position_t + shape.padded() - seen);
}

/// sum [width] += the column sums of rows [count, width]; a tile at a time, so that long sums stay exact.
template <class T>
void add_columns(const T* rows, std::int64_t count, std::int64_t width, T* sum) {
  for (std::int64_t k = 0; k < width; ++k) {
    T tile_sum = 0;
    for (std::int64_t i = 0; i < count; ++i) tile_sum += rows[i * width + k];
    sum[k] += tile_sum;
  }
}

/// The gradients of a tile's queries, and what it adds to those of the biases.
template <class T>
void query_gradients(const RelativeShape& shape, const PositionTable& table, Place at, std::int64_t first,
                     std::int64_t count, const RelativeGradients& gradients, BackwardSpace<T>& space) {
  const std::int64_t width = shape.width;
  const std::int64_t seen = first + shape.tile();
  const T* position = table.rows[at.head].const_data_ptr<T>() + (shape.padded() - seen) * width;
  deep_product(shape.tile(), width, seen, space.d_scores.row(0), space.d_scores.stride(), space.key.data(), width,
               space.d_content.data());
  deep_product(shape.tile(), width, seen, space.d_scores.by_distance(), space.d_scores.stride() + 1, position, width,
               space.d_distance.data());
  const T scale = static_cast<T>(shape.scale());
  for (T& x : space.d_content) x *= scale;
  for (T& x : space.d_distance) x *= scale;
  const auto d_query = head_of<T>(gradients.query, at.batch, at.head);
  for (std::int64_t i = 0; i < count; ++i) {
    T* row = d_query.row(first + i);
    for (std::int64_t k = 0; k < width; ++k) {
      row[k] = space.d_content.data()[i * width + k] + space.d_distance.data()[i * width + k];
    }
  }
  const std::int64_t bias = (at.batch * shape.heads + at.head) * width;
  add_columns(space.d_content.data(), count, width, gradients.content_bias.data_ptr<T>() + bias);
  add_columns(space.d_distance.data(), count, width, gradients.position_bias.data_ptr<T>() + bias);
}

template <class T>
void backward_relative_head(const RelativeShape& shape, const RelativeDropout& dropout, const RelativeTensors& tensors,
                            const PositionTable& table, const Tensor& upstream, Place at,
                            const RelativeGradients& gradients, BackwardSpace<T>& space) {
  const std::int64_t width = shape.width;
  const auto key = head_of<T>(tensors.key, at.batch, at.head);
  const auto value = head_of<T>(tensors.value, at.batch, at.head);
  transpose(key.data, key.stride, shape.length, width, space.key_t.data(), shape.stride());
  transpose(value.data, value.stride, shape.length, width, space.value_t.data(), shape.stride());
  pack_rows(key, 0, shape.length, width, space.key.data());
  std::fill(space.d_key_t.begin(), space.d_key_t.end(), T{0});
  std::fill(space.d_value_t.begin(), space.d_value_t.end(), T{0});
  T* d_position_t = gradients.position_t.data_ptr<T>() +
                    (at.batch * shape.heads + at.head) * static_cast<std::int64_t>(shape.table());
  for (std::int64_t first = 0; first < shape.length; first += shape.tile()) {
    const std::int64_t count = std::min(shape.tile(), shape.length - first);
    load_queries(shape, tensors, at, first, count, space);
    relative_scores(shape, table, at.head, first, space);
    backward_rows(shape, dropout, tensors, upstream, at, first, count, space);
    add_key_gradients(shape, first, d_position_t, space);
    query_gradients(shape, table, at, first, count, gradients, space);
  }
  const auto d_key = head_of<T>(gradients.key, at.batch, at.head);
  const auto d_value = head_of<T>(gradients.value, at.batch, at.head);
  transpose(space.d_key_t.data(), shape.stride(), width, shape.length, d_key.data, d_key.stride);
  transpose(space.d_value_t.data(), shape.stride(), width, shape.length, d_value.data, d_value.stride);
}

/// Calls f(Space&, Place) for every head of every sequence, in parallel.
template <class Space, class F>
void for_each_head(const RelativeShape& shape, const F& f) {
  at::parallel_for(0, shape.batch * shape.heads, 1, [&](std::int64_t begin, std::int64_t end) {
    Space space(shape);
    for (std::int64_t i = begin; i < end; ++i) f(space, Place{i / shape.heads, i % shape.heads});
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
        .log_sums = torch::empty({shape.batch, shape.heads, shape.length}, query.options().requires_grad(false))};
    const PositionTable table(shape, position);
    AT_DISPATCH_FLOATING_TYPES(query.scalar_type(), "relative_attention", [&] {
      for_each_head<ForwardSpace<scalar_t>>(shape, [&](ForwardSpace<scalar_t>& space, Place at) {
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
    const PositionTable table(shape, saved[7]);
    const Tensor d_out = rows_contiguous(upstream[0]);
    const auto options = tensors.out.options().requires_grad(false);
    const RelativeGradients gradients{
        .query = empty_heads(tensors.query, shape.length),
        .key = empty_heads(tensors.query, shape.length),
        .value = empty_heads(tensors.query, shape.length),
        .position_t = torch::zeros({shape.batch, shape.heads, shape.width, shape.stride()}, options),
        .content_bias = torch::zeros({shape.batch, shape.heads, shape.width}, options),
        .position_bias = torch::zeros({shape.batch, shape.heads, shape.width}, options)};
    AT_DISPATCH_FLOATING_TYPES(tensors.query.scalar_type(), "relative_attention", [&] {
      for_each_head<BackwardSpace<scalar_t>>(shape, [&](BackwardSpace<scalar_t>& space, Place at) {
        backward_relative_head<scalar_t>(shape, settings, tensors, table, d_out, at, gradients, space);
      });
    });
    return {gradients.query,
            gradients.key,
            gradients.value,
            sum_position_gradients(shape, gradients.position_t),
            gradients.content_bias.sum(0),
            gradients.position_bias.sum(0),
            Tensor(),
            Tensor()};
  }
};

}  // namespace

Tensor relative_attention_fused(const RelativeAttentionInput& input) {
  const torch::ScalarType given = input.query.scalar_type();
  const torch::ScalarType type = given == torch::kDouble ? torch::kDouble : torch::kFloat;
  return FusedRelativeAttention::apply(input.query.to(type), input.key.to(type), input.value.to(type),
                                       input.position.to(type), input.content_bias.to(type),
                                       input.position_bias.to(type), input.dropout,
                                       static_cast<std::int64_t>(input.seed))
      .to(given);
}

}  // namespace xlm
