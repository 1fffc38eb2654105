// The backward pass of attention over a band, by queries: a block has 64 of them and goes through the tiles of keys
// that they see. Gradients by distance are kept in a ring of two tiles, and every step completes one, which is added to
// the positions' gradients. Grid: (tiles of queries, B·n). Writes the gradients of queries and spans, and the numbers
// of queries that the pass over keys needs (band_backward_keys.cuh). It runs first.
#pragma once

#include "core/cuda/kernels/band_tiles.cuh"

namespace xlm::band {

/// What the gradients of a query's scores follow from. With t the gradient of a weight that dropout keeps, or 0, the
/// gradient by the softmax is t · gain − offset, if the soft mask is 1. All are 0 for a query that is not there.
///
/// Gradients of scores are before the scores' scaling, so gain and offset have the factor `Arguments::scale`.
struct Slope {
  float log_sum;  // in base 2
  float gain;     // scale of the dropout / (Σ softmax · mask + ε)
  float offset;   // Σ weights · their gradient / (Σ softmax · mask + ε)
};

/// The gradient of a score from its softmax and that of its weight; in `mask` the soft mask of the weight, in `by_span`
/// what the span's gradient gets.
template <bool kEdge, bool kMasked>
XLM_DEVICE float score_gradient(const Arguments& a, float softmax, float d_weight, float gain, float offset, int column,
                                float span, float& mask, float& by_span) {
  float gradient = d_weight * gain - offset;
  mask = 1;
  if (kEdge && kMasked) {
    const float beyond = beyond_ramp(a, column, span);
    mask = soft_mask(a, beyond);
    // The ramp's ends belong to its slope. The line at an end may round to either side of the clamp, so it does not
    // tell.
    if (beyond >= -a.ramp && beyond <= 0.0F) by_span += softmax * gradient;
    gradient = mask * gradient - offset * kMaskEpsilon;
  }
  return gradient * softmax;
}

/// The fragments of 16 rows × 64 columns.
XLM_DEVICE void load_left(unsigned (&left)[4][4], const Half* rows, int stride, int lane) {
  XLM_UNROLL
  for (int k = 0; k < 4; ++k) load_matrices(left[k], rows + (lane % 16) * stride + 16 * k + 8 * (lane / 16));
}

/// Adds leftᵀ · right [64, d] to rows of global memory, from `first` on, of which there are `count`: `left` is 64 × 64
/// in the ring, `right` [64, d]. A warp has 32 of the rows and half of the columns.
template <int kWidth>
XLM_DEVICE void add_product(float* to, long long stride, int first, int count, const Half* left, const Half* right,
                            const Place& place) {
  constexpr int kStride = kWidth + kPad;
  constexpr int kBlocks = kWidth / 16;
  const int lane = place.lane;
  const int first_row = 32 * (place.warp / 2);
  const int first_column = kWidth / 2 * (place.warp % 2);
  float sum[2][kBlocks][4] = {};
  XLM_UNROLL
  for (int k = 0; k < kTile; k += 16) {
    unsigned a[2][4];
    XLM_UNROLL
    for (int part = 0; part < 2; ++part) {
      load_matrices_transposed(
          a[part], left + (k + lane % 8 + 8 * (lane / 16)) * kRingStride + first_row + 16 * part + 8 * (lane / 8 % 2));
    }
    XLM_UNROLL
    for (int block = 0; block < kBlocks; block += 2) {
      unsigned b[4];
      load_matrices_transposed(b, right + (k + lane % 16) * kStride + first_column + 8 * block + 8 * (lane / 16));
      XLM_UNROLL
      for (int part = 0; part < 2; ++part) {
        multiply_add(sum[part][block], a[part], b[0], b[1]);
        multiply_add(sum[part][block + 1], a[part], b[2], b[3]);
      }
    }
  }
  XLM_UNROLL
  for (int part = 0; part < 2; ++part) {
    XLM_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = first + first_row + 16 * part + 8 * half + lane / 4;
      if (row < 0 || row >= count) continue;
      float* place_of_row = to + row * stride + first_column + place.column(0, 0);
      XLM_UNROLL
      for (int n = 0; n < kBlocks; ++n) {
        add_pair_to(place_of_row + 8 * n, sum[part][n][2 * half], sum[part][n][2 * half + 1]);
      }
    }
  }
}

/// Two queries of a thread.
struct BackwardRows {
  QueryRow rows[2];
  Slope slopes[2];
  float span;  // the least of the warp
  float d_span[2] = {};

  /// Scores by key become their gradients, given those of the weights, and are stored by distance: ring column
  /// (distance + key − row) mod 128. All arguments are of the first key; the strip is for kKeys keys.
  template <bool kEdge, bool kMasked, bool kDropped, int kKeys, int kBlocks>
  XLM_DEVICE void differentiate(float (&scores)[kBlocks][4], const float (&d_weights)[kBlocks][4], const Arguments& a,
                                const float* strip, Half* ring, int distance, int column, int first_key,
                                const Place& place) {
    const float scale = a.scale * kLog2e;
    const unsigned limit = kDropped ? drop_limit(a.drop_threshold) : 0;
    XLM_UNROLL
    for (int half = 0; half < 2; ++half) {
      const float* by_distance = row_of_strip<kKeys>(strip, 8 * half + place.lane / 4) + place.column(0, 0);
      const int from_row = place.column(0, 0) - place.row(half);
      const int first_column = column + from_row;
      const int key = first_key + place.column(0, 0);
      const Slope slope = slopes[half];
      const unsigned drop_key = kDropped ? rows[half].drop_key + drop_step(key) : 0;
      Half* to = ring + place.row(half) * kRingStride;
      const int first_place = distance + from_row;
      XLM_UNROLL
      for (int n = 0; n < kBlocks; ++n) {
        float gradients[2];
        XLM_UNROLL
        for (int i = 0; i < 2; ++i) {
          const int c = 8 * n + i;
          float softmax = exponential_2((scores[n][2 * half + i] + by_distance[c]) * scale - slope.log_sum);
          if (kEdge) {
            const bool sees = first_column + c >= 0 && first_column + c < a.band && key + c >= 0 && key + c < a.keys;
            softmax = sees ? softmax : 0.0F;
          }
          const bool kept = !kDropped || keeps(drop_key + drop_step(c), limit);
          float mask;
          gradients[i] =
              score_gradient<kEdge, kMasked>(a, softmax, d_weights[n][2 * half + i], kept ? slope.gain : 0.0F,
                                             slope.offset, first_column + c, rows[half].span, mask, d_span[half]);
          scores[n][2 * half + i] = gradients[i];
        }
        const unsigned rounded = pack(gradients[0], gradients[1]);
        to[(first_place + 8 * n) & (kRing - 1)] = lower_of(rounded);
        to[(first_place + 8 * n + 1) & (kRing - 1)] = upper_of(rounded);
      }
    }
  }
};

template <int kWidth, bool kTwoQueries, bool kMasked, bool kDropped, bool kCompact>
XLM_DEVICE void backward_queries(const Arguments& a) {
  constexpr int kStride = kWidth + kPad;
  constexpr int kTileSize = kTile * kStride;
  constexpr int kKeys = kWidth <= kBackwardAtOnce && !kCompact ? kTile : kTile / 2;
  constexpr int kStripKeys = kCompact ? kKeys : kTile;
  constexpr int kSlots = kCompact ? 2 : 3;  // of positions: two in use, and the next
  Half* query = static_cast<Half*>(shared_memory());
  Half* position_query = kTwoQueries ? query + kTileSize : query;
  Half* d_out = position_query + kTileSize;
  Half* key = d_out + kTileSize;
  Half* value = key + kTileSize;
  Half* positions = value + kTileSize;
  Half* ring = positions + kSlots * kTileSize;
  float* strips = reinterpret_cast<float*>(ring + kTile * kRingStride);

  const Place place;
  const BlockOfQueries block(a);
  float* strip = strips + 16 * place.warp * Strips<kStripKeys>::kStride;
  const auto slot = [&](int tile) { return positions + (tile + 1) % kSlots * kTileSize; };
  const auto load_keys = [&](int step) {
    const int first = block.first_key + kTile * step;
    load_rows<kWidth>(key, block.key, a.key.row, first, a.keys);
    load_rows<kWidth>(value, block.value, a.value.row, first, a.keys);
  };
  const auto load_positions = [&](int tile) {
    load_rows<kWidth>(slot(tile), block.position, a.position.row, block.column + kTile * tile, a.band);
  };
  load_rows<kWidth>(query, block.rows(a.query), a.query.row, block.first, a.queries);
  if (kTwoQueries) {
    load_rows<kWidth>(position_query, block.rows(a.position_query), a.position_query.row, block.first, a.queries);
  }
  load_rows<kWidth>(d_out, block.rows(a.d_out), a.d_out.row, block.first, a.queries);
  load_positions(-1);
  load_keys(0);
  load_positions(0);
  for (int i = thread_index(); i < kTile * kRingStride / 2; i += kThreads) store_pair(ring + 2 * i, 0U);

  BackwardRows rows{{QueryRow::of<kMasked, kDropped>(a, block.batch, block.head, block.first + place.row(0)),
                     QueryRow::of<kMasked, kDropped>(a, block.batch, block.head, block.first + place.row(1))},
                    {},
                    0};
  if (kMasked) rows.span = least_of_warp(-larger(-rows.rows[0].span, -rows.rows[1].span));
  XLM_UNROLL
  for (int half = 0; half < 2; ++half) {
    const int query_row = rows.rows[half].query;
    const bool there = rows.rows[half].there;
    float dot = 0;  // Σ weights · their gradient = output · its gradient
    if (there) {
      const Half* out = block.rows(a.out) + query_row * a.out.row + place.column(0, 0);
      const Half* gradient = block.rows(a.d_out) + query_row * a.d_out.row + place.column(0, 0);
      XLM_UNROLL
      for (int k = 0; k < kWidth; k += 8) {
        const unsigned x = load_pair(out + k);
        const unsigned y = load_pair(gradient + k);
        dot += to_float(lower_of(x)) * to_float(lower_of(y));
        dot += to_float(upper_of(x)) * to_float(upper_of(y));
      }
    }
    for (int mask = 1; mask <= 2; mask *= 2) dot += shuffle_xor(dot, mask);
    if (!there) continue;
    const long long number = static_cast<long long>(block_y()) * a.queries + query_row;
    const float inverse = (kMasked ? 1.0F / a.sums[2 * number + 1] : 1.0F) * a.scale;
    const Slope slope{a.sums[2 * number] * kLog2e, (kDropped ? a.drop_scale : 1.0F) * inverse, dot * inverse};
    rows.slopes[half] = slope;
    if (place.lane % 4 == 0) {
      float* numbers = a.numbers + kQueryNumbers * number;
      store_pair(numbers, slope.log_sum, slope.gain);
      store_pair(numbers + 2, slope.offset, float_of(rows.rows[half].drop_key));
      if (kMasked) numbers[4] = rows.rows[half].span;
    }
  }
  float d_query[kWidth / 8][4] = {};
  float d_position_query[kTwoQueries ? kWidth / 8 : 1][4] = {};

  const auto gather_distances = [&](int tile) {  // of a tile of distances that is whole
    unsigned left[4][4];
    const Half* gradients = ring + (tile & 1) * kTile;
    load_left(left, gradients + 16 * place.warp * kRingStride, kRingStride, place.lane);
    if constexpr (kTwoQueries) {
      multiply_add_rows<kWidth>(d_position_query, left, slot(tile), place.lane);
    } else {
      multiply_add_rows<kWidth>(d_query, left, slot(tile), place.lane);
    }
    add_product<kWidth>(a.d_position.data + block.head * a.d_position.head, a.d_position.row,
                        block.column + kTile * tile, a.band, gradients, position_query, place);
  };

  const auto score_step = [&](int step, int first) {
    score_positions<kWidth, kStripKeys>(strip, position_query + 16 * place.warp * kStride, slot(step - 1), slot(step),
                                        first, place);
    sync_warp();
  };

  for (int step = 0; step < block.steps; ++step) {
    await_copies();
    sync_block();
    const int column = block.column + kTile * step;
    const int first_key = block.first_key + kTile * step;
    if (!kCompact) score_step(step, 0);
    const bool inside = is_whole(a, block.first, first_key) && is_in_band<kMasked>(a, column, rows.span);
    for (int first = 0; first < kTile; first += kKeys) {
      float scores[kKeys / 8][4];
      float d_weights[kKeys / 8][4];
      if (kCompact) {
        if (first > 0) sync_warp();
        score_step(step, first);
      }
      const float* of_strip = kCompact ? strip : strip + first;
      const Half* of_key = key + first * kStride;
      multiply_rows<kWidth>(scores, query + 16 * place.warp * kStride, of_key, place.lane);
      multiply_rows<kWidth>(d_weights, d_out + 16 * place.warp * kStride, value + first * kStride, place.lane);
      if (inside) {
        rows.differentiate<false, kMasked, kDropped, kStripKeys>(
            scores, d_weights, a, of_strip, ring, kTile * step + first, column + first, first_key + first, place);
      } else {
        rows.differentiate<true, kMasked, kDropped, kStripKeys>(
            scores, d_weights, a, of_strip, ring, kTile * step + first, column + first, first_key + first, place);
      }
      unsigned left[kKeys / 16][4];
      pack_left(left, scores);
      multiply_add_rows<kWidth>(d_query, left, of_key, place.lane);
    }
    sync_block();
    const bool last = step + 1 == block.steps;
    if (!last) load_keys(step + 1);
    if (!last && !kCompact) load_positions(step + 1);
    if (column > 0) gather_distances(step - 1);
    if (!last && kCompact) {  // in the place of those just gathered
      sync_block();
      load_positions(step + 1);
    }
  }
  // The entries that a further tile of keys would write lie beyond the band, so their old values are multiplied by
  // zero.
  if (block.steps > 0) gather_distances(block.steps - 1);
  await_copies();  // of a block without keys

  XLM_UNROLL
  for (int half = 0; half < 2; ++half) {
    float d_span = rows.d_span[half];
    for (int mask = 1; mask <= 2; mask *= 2) d_span += shuffle_xor(d_span, mask);
    if (!rows.rows[half].there) continue;
    const int query_row = rows.rows[half].query;
    store_row(block.rows(a.d_query) + query_row * a.d_query.row, d_query, half, 1.0F, place);
    if constexpr (kTwoQueries) {
      store_row(block.rows(a.d_position_query) + query_row * a.d_position_query.row, d_position_query, half, 1.0F,
                place);
    }
    if (kMasked && place.lane % 4 == 0) {
      a.d_span[static_cast<long long>(block_y()) * a.queries + query_row] = d_span / (a.ramp * a.scale);
    }
  }
}

}  // namespace xlm::band
