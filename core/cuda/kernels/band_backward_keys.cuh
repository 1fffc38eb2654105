// The backward pass of attention over a band, by keys: a block has 64 of them and goes through the tiles of queries
// that see them. Scores have a row for each key here, so that the gradients of keys and values stay in registers. Grid:
// (tiles of keys, B·n). Writes the gradients of keys and values. It runs after the pass over queries.
#pragma once

#include "core/cuda/kernels/band_backward_queries.cuh"

namespace xlm::band {

/// What a thread needs of the query of a column, as the pass over queries wrote it. Of a query that is not there all is
/// 0, and so are its weights and their gradients. In shared memory the first four numbers of a tile's queries come
/// first, so that they fall into different banks, then the others.
struct QueryNumbers {
  Slope slope;
  unsigned drop_key;
  float span;

  static XLM_DEVICE QueryNumbers load(const float* numbers, int query) {
    const float* own = numbers + 4 * query;
    return {{own[0], own[1], own[2]}, bits_of(own[3]), own[4 * kTile]};
  }

  /// Begins to copy those of a tile to shared memory.
  static XLM_DEVICE void begin_load(float* to, const Arguments& a, int first) {
    const int query = thread_index() % kTile;
    const int piece = thread_index() / kTile;
    const long long number = static_cast<long long>(block_y()) * a.queries + first + query;
    begin_copy(to + 4 * thread_index(), a.numbers + kQueryNumbers * number + 4 * piece, first + query < a.queries);
  }
};
static_assert(kTile * kQueryNumbers / 4 == kThreads, "each thread copies one piece of 16 bytes");

/// A tile of keys of a head, and the tiles of queries that see it.
struct BlockOfKeys {
  int batch, head, first;          // key of the tile
  int first_query, steps, column;  // of the first tile of queries; column of its first query and the first key

  XLM_DEVICE explicit BlockOfKeys(const Arguments& a)
      : batch(block_y() / a.heads), head(block_y() % a.heads), first(block_x() * kTile), first_query(0), steps(0) {
    const int earliest = first + a.key_offset - (a.band - 1);
    if (earliest > 0) first_query = earliest;
    const int last = BlockOfQueries::smaller_of(first + kTile - 1 + a.key_offset, a.queries - 1);
    if (last >= first_query) steps = (last - first_query) / kTile + 1;
    column = first + a.key_offset - first_query;
  }

  /// The rows of its head.
  template <class T>
  XLM_DEVICE T* rows(const Rows<T>& of) const {
    return of.data + batch * of.batch + head * of.head;
  }
};

/// Scores of keys by query become the gradients of scores, and `d_weights`, gradients of weights, become the weights,
/// both with the factor `Arguments::scale`.
template <bool kEdge, bool kMasked, bool kDropped, int kBlocks>
XLM_DEVICE void differentiate_keys(float (&scores)[kBlocks][4], float (&d_weights)[kBlocks][4], const Arguments& a,
                                   const float* strips, const float* numbers, int column, int first_key,
                                   const Place& place) {
  const float scale = a.scale * kLog2e;
  const unsigned limit = kDropped ? drop_limit(a.drop_threshold) : 0;
  const float* by_distance = strips + place.column(0, 0) * (Strips<kTile>::kStride - 1) + 16 + place.row(0);
  unsigned drop_steps[2] = {};
  if (kDropped) {
    drop_steps[0] = drop_step(first_key + place.row(0));
    drop_steps[1] = drop_step(first_key + place.row(1));
  }
  XLM_UNROLL
  for (int n = 0; n < kBlocks; ++n) {
    XLM_UNROLL
    for (int i = 0; i < 2; ++i) {
      const int c = 8 * n + i;  // of queries
      const QueryNumbers query = QueryNumbers::load(numbers, place.column(n, i));
      XLM_UNROLL
      for (int half = 0; half < 2; ++half) {
        const int element = 2 * half + i;
        // The row in the warp's strip shifts by its number in the warp only.
        const float by_position = by_distance[c * (Strips<kTile>::kStride - 1) + c / 16 * 16 + 8 * half];
        float softmax = exponential_2((scores[n][element] + by_position) * scale - query.slope.log_sum);
        const int of_band = column + place.row(half) - place.column(n, i);
        if (kEdge) softmax = of_band >= 0 && of_band < a.band ? softmax : 0.0F;
        const bool kept = !kDropped || keeps(query.drop_key + drop_steps[half], limit);
        const float gain = kept ? query.slope.gain : 0.0F;
        const float weight = softmax * gain;
        float mask;
        float by_span = 0;
        scores[n][element] = score_gradient<kEdge, kMasked>(a, softmax, d_weights[n][element], gain, query.slope.offset,
                                                            of_band, query.span, mask, by_span);
        d_weights[n][element] = kEdge && kMasked ? weight * mask : weight;
      }
    }
  }
}

template <int kWidth, bool kTwoQueries, bool kMasked, bool kDropped, bool kCompact>
XLM_DEVICE void backward_keys(const Arguments& a) {
  constexpr int kStride = kWidth + kPad;
  constexpr int kTileSize = kTile * kStride;
  constexpr int kStages = kWidth <= kInStages && !kCompact ? 2 : 1;
  constexpr int kQueries = kWidth <= kBackwardAtOnce ? kTile : kTile / 2;
  Half* key = static_cast<Half*>(shared_memory());
  Half* value = key + kTileSize;
  Half* queries = value + kTileSize;
  Half* d_outs = queries + kStages * kTileSize;
  Half* positions = d_outs + kStages * kTileSize;  // two tiles
  Half* other_query = positions + 2 * kTileSize;
  float* strips = reinterpret_cast<float*>(other_query + (kTwoQueries ? kTileSize : 0));
  float* all_numbers = strips + kTile * Strips<kTile>::kStride;

  const Place place;
  const BlockOfKeys block(a);
  const Half* position = a.position.data + block.head * a.position.head;
  const auto slot = [&](int tile) { return positions + (tile & 1) * kTileSize; };  // columns from 64 to 0
  const auto load_step = [&](int step) {
    const int first = block.first_query + kTile * step;
    const int stage = step % kStages;
    load_rows<kWidth>(queries + stage * kTileSize, block.rows(a.query), a.query.row, first, a.queries);
    if (kTwoQueries) {
      load_rows<kWidth>(other_query, block.rows(a.position_query), a.position_query.row, first, a.queries);
    }
    load_rows<kWidth>(d_outs + stage * kTileSize, block.rows(a.d_out), a.d_out.row, first, a.queries);
    load_rows<kWidth>(slot(step), position, a.position.row, block.column - kTile * (step + 1), a.band);
    QueryNumbers::begin_load(all_numbers + stage * kQueryNumbers * kTile, a, first);
  };
  load_rows<kWidth>(key, block.rows(a.key), a.key.row, block.first, a.keys);
  load_rows<kWidth>(value, block.rows(a.value), a.value.row, block.first, a.keys);
  load_rows<kWidth>(slot(-1), position, a.position.row, block.column, a.band);
  load_step(0);

  float d_key[kWidth / 8][4] = {};
  float d_value[kWidth / 8][4] = {};
  for (int step = 0; step < block.steps; ++step) {
    await_copies();
    sync_block();
    const int stage = step % kStages;
    const Half* query = queries + stage * kTileSize;
    const Half* d_out = d_outs + stage * kTileSize;
    const float* numbers = all_numbers + stage * kQueryNumbers * kTile;
    const Half* position_query = kTwoQueries ? other_query : query;
    score_positions<kWidth, kTile>(strips + 16 * place.warp * Strips<kTile>::kStride,
                                   position_query + 16 * place.warp * kStride, slot(step), slot(step - 1), 0, place);
    sync_block();
    // The present tile's queries of positions are no longer needed, nor the positions of the tile before.
    if (kStages > 1 && step + 1 < block.steps) load_step(step + 1);
    const int column = block.column - kTile * step;
    float span = 0;
    if (kMasked) {
      const float* spans = numbers + 4 * (kTile + place.lane);
      span = least_of_warp(-larger(-spans[0], -spans[32 * 4]));
    }
    // A query that is not there has weights of 0, and the sums of a key that is not there are not stored.
    const bool inside = is_in_band<kMasked>(a, column, span);
    for (int first = 0; first < kTile; first += kQueries) {
      float scores[kQueries / 8][4];
      float d_weights[kQueries / 8][4];
      const Half* of_query = query + first * kStride;
      const Half* of_d_out = d_out + first * kStride;
      multiply_rows<kWidth>(scores, key + 16 * place.warp * kStride, of_query, place.lane);
      multiply_rows<kWidth>(d_weights, value + 16 * place.warp * kStride, of_d_out, place.lane);
      const float* of_strips = strips + first * Strips<kTile>::kStride;
      const float* of_numbers = numbers + 4 * first;
      if (inside) {
        differentiate_keys<false, kMasked, kDropped>(scores, d_weights, a, of_strips, of_numbers, column - first,
                                                     block.first, place);
      } else {
        differentiate_keys<true, kMasked, kDropped>(scores, d_weights, a, of_strips, of_numbers, column - first,
                                                    block.first, place);
      }
      unsigned left[kQueries / 16][4];
      pack_left(left, d_weights);
      multiply_add_rows<kWidth>(d_value, left, of_d_out, place.lane);
      pack_left(left, scores);
      multiply_add_rows<kWidth>(d_key, left, of_query, place.lane);
    }
    if (kStages == 1 && step + 1 < block.steps) {
      sync_block();
      load_step(step + 1);
    }
  }
  await_copies();  // of a block without queries

  XLM_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int row = block.first + place.row(half);
    if (row >= a.keys) continue;
    store_row(block.rows(a.d_key) + row * a.d_key.row, d_key, half, 1.0F, place);
    store_row(block.rows(a.d_value) + row * a.d_value.row, d_value, half, 1.0F / a.scale, place);
  }
}

}  // namespace xlm::band
