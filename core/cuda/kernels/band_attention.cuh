// Attention over a band with relative positions, a soft mask and dropout, for one block of a GPU: banded attention
// (core/kernels/banded_attention.h) and relative attention (core/kernels/relative_attention.h) are both of this form.
//
// A block has 64 queries and goes through tiles of 64 keys. Tile t holds the columns j = 64·t + key − query of a band,
// so that the distances of a tile of keys are in two tiles of positions, t − 1 and t. Products with positions are kept
// in a ring of two such tiles, and every step adds one: three products forward (query·position, query·key,
// weights·value), eight backward. Products have bfloat16 operands and float32 sums; everything else is float32.
//
// NVRTC reads this code after gpu_block.cuh. The tests read it after a stand-in that runs the threads of a block as
// fibers. It includes only its arguments. Work within a warp synchronises the warp; work between warps synchronises the
// block.
#pragma once

#include "core/cuda/kernels/band_arguments.h"

namespace xlm::band {

constexpr float kMaskEpsilon = 1e-8F;  // of the renormalisation (docs/models.md#the-soft-mask)
constexpr float kLog2e = 1.4426950408889634F;
constexpr float kNothing = -1e30F;  // below every score

/// The place of a thread: its lane, and the rows and columns of the elements that it has of a 16 × 8 block of sums.
struct Place {
  int lane, warp;
  XLM_DEVICE Place() : lane(thread_index() % 32), warp(thread_index() / 32) {}
  /// The row in the tile of elements 0 and 1 (half 0), or 2 and 3 (half 1).
  XLM_DEVICE int row(int half) const { return 16 * warp + 8 * half + lane / 4; }
  XLM_DEVICE int column(int block, int element) const { return 8 * block + 2 * (lane % 4) + element % 2; }
};

/// Copies 64 rows, from `first` on, to shared memory. Rows that are not in 0 … count − 1 are zero.
template <int kWidth>
XLM_DEVICE void load_rows(Half* to, const Half* from, long long stride, int first, int count) {
  constexpr int kPieces = kWidth / 8;
  for (int piece = thread_index(); piece < kTile * kPieces; piece += kThreads) {
    const int row = piece / kPieces;
    const int column = 8 * (piece % kPieces);
    const int source = first + row;
    Half* place = to + row * (kWidth + kPad) + column;
    if (source >= 0 && source < count) {
      copy_16_bytes(place, from + source * stride + column);
    } else {
      clear_16_bytes(place);
    }
  }
}

/// sum = left · rightᵀ: 16 rows of `left`, 64 of `right`, both row by row in shared memory.
template <int kWidth>
XLM_DEVICE void multiply_rows(float (&sum)[8][4], const Half* left, const Half* right, int lane) {
  constexpr int kStride = kWidth + kPad;
  XLM_UNROLL
  for (int block = 0; block < 8; ++block) {
    XLM_UNROLL
    for (int i = 0; i < 4; ++i) sum[block][i] = 0;
  }
  XLM_UNROLL
  for (int k = 0; k < kWidth; k += 16) {
    unsigned a[4];
    load_matrices(a, left + (lane % 16) * kStride + k + 8 * (lane / 16));
    XLM_UNROLL
    for (int block = 0; block < 8; block += 2) {
      unsigned b[4];
      load_matrices(b, right + (8 * block + lane % 8 + 8 * (lane / 16)) * kStride + k + 8 * (lane / 8 % 2));
      multiply_add(sum[block], a, b[0], b[1]);
      multiply_add(sum[block + 1], a, b[2], b[3]);
    }
  }
}

/// sum += left · right: `left` 16 × 64 as fragments of four steps of 16, `right` [64, d] row by row.
template <int kWidth>
XLM_DEVICE void multiply_add_rows(float (&sum)[kWidth / 8][4], const unsigned (&left)[4][4], const Half* right,
                                  int lane) {
  constexpr int kStride = kWidth + kPad;
  XLM_UNROLL
  for (int k = 0; k < 4; ++k) {
    XLM_UNROLL
    for (int block = 0; block < kWidth / 8; block += 2) {
      unsigned b[4];
      load_matrices_transposed(b, right + (16 * k + lane % 16) * kStride + 8 * block + 8 * (lane / 16));
      multiply_add(sum[block], left[k], b[0], b[1]);
      multiply_add(sum[block + 1], left[k], b[2], b[3]);
    }
  }
}

/// The fragments of 16 rows × 64 columns.
XLM_DEVICE void load_left(unsigned (&left)[4][4], const Half* rows, int stride, int lane) {
  XLM_UNROLL
  for (int k = 0; k < 4; ++k) load_matrices(left[k], rows + (lane % 16) * stride + 16 * k + 8 * (lane / 16));
}

/// The fragments of the transpose: 16 of its rows, which are columns of the 64 rows here.
XLM_DEVICE void load_left_transposed(unsigned (&left)[4][4], const Half* rows, int stride, int lane) {
  XLM_UNROLL
  for (int k = 0; k < 4; ++k) {
    load_matrices_transposed(left[k], rows + (16 * k + lane % 8 + 8 * (lane / 16)) * stride + 8 * (lane / 8 % 2));
  }
}

/// Adds factor · left · right [16 of 64 rows, d] to rows of global memory, from `first` on, of which there are `count`.
template <int kWidth>
XLM_DEVICE void add_product(float* to, long long stride, int first, int count, const unsigned (&left)[4][4],
                            const Half* right, float factor, const Place& place) {
  constexpr int kStride = kWidth + kPad;
  XLM_UNROLL
  for (int block = 0; block < kWidth / 8; block += 2) {
    float sum[2][4] = {};
    XLM_UNROLL
    for (int k = 0; k < 4; ++k) {
      unsigned b[4];
      load_matrices_transposed(b, right + (16 * k + place.lane % 16) * kStride + 8 * block + 8 * (place.lane / 16));
      multiply_add(sum[0], left[k], b[0], b[1]);
      multiply_add(sum[1], left[k], b[2], b[3]);
    }
    XLM_UNROLL
    for (int which = 0; which < 2; ++which) {
      XLM_UNROLL
      for (int half = 0; half < 2; ++half) {
        const int row = first + place.row(half);
        if (row < 0 || row >= count) continue;
        add_pair_to(to + row * stride + place.column(block + which, 0), factor * sum[which][2 * half],
                    factor * sum[which][2 * half + 1]);
      }
    }
  }
}

/// Stores the scores of a warp's rows by distance in the ring, from which its lanes read them by key.
XLM_DEVICE void store_ring(float* ring, const float (&sum)[8][4], int tile, const Place& place) {
  const int first = (tile % 2) * kTile;
  XLM_UNROLL
  for (int block = 0; block < 8; ++block) {
    XLM_UNROLL
    for (int i = 0; i < 4; ++i) {
      ring[place.row(i / 2) * kRingStride + first + place.column(block, i)] = sum[block][i];
    }
  }
}

/// One of the queries of a thread.
struct QueryRow {
  int query;
  bool there;
  float span;
  unsigned drop_key;

  template <bool kMasked, bool kDropped>
  static XLM_DEVICE QueryRow of(const Arguments& a, int batch, int head, int query) {
    QueryRow row{query, query < a.queries, 0, 0};
    if (kMasked && row.there) row.span = a.span.data[batch * a.span.batch + head * a.span.head + query * a.span.row];
    if (kDropped) {
      row.drop_key = static_cast<unsigned>(
          random_bits((a.seed_place != nullptr ? *a.seed_place : a.seed) +
                          static_cast<unsigned long long>(batch) * 0xD1342543DE82EF95ULL,
                      static_cast<unsigned long long>(head), static_cast<unsigned long long>(query)));
    }
    return row;
  }

  /// Whether it sees column j of its band.
  XLM_DEVICE bool sees(const Arguments& a, int column) const {
    const int key = query + column - a.key_offset;
    return there && column >= 0 && column < a.band && key >= 0 && key < a.keys;
  }

  /// The soft mask's line before it is clamped to [0, 1]; column L − 1 is at the distance 1.
  XLM_DEVICE float mask_line(const Arguments& a, int column) const {
    return (static_cast<float>(column + 1 - a.band) + span) / a.ramp + 1.0F;
  }

  XLM_DEVICE float drop_factor(const Arguments& a, int column) const {
    const int place = a.drop_by_key ? query + column - a.key_offset : column;
    return mixed(drop_key + static_cast<unsigned>(place) * 0x9E3779B9U) >= a.drop_threshold ? a.drop_scale : 0.0F;
  }

 private:
  static XLM_DEVICE unsigned mixed(unsigned x) {  // as Dropout of core/kernels/dropout.h
    x = (x ^ (x >> 16U)) * 0x7FEB352DU;
    x = (x ^ (x >> 15U)) * 0x846CA68BU;
    x ^= x >> 16U;
    return x >> 8U;
  }
  static XLM_DEVICE unsigned long long mix(unsigned long long x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31U);
  }
  static XLM_DEVICE unsigned long long random_bits(unsigned long long seed, unsigned long long stream,
                                                   unsigned long long index) {  // as base/random.h
    return mix(mix(mix(seed) ^ stream) ^ index);
  }
};

XLM_DEVICE float clamped(float x) { return x < 0.0F ? 0.0F : (x > 1.0F ? 1.0F : x); }

/// The work of a block, which is the same for all its threads.
struct BlockOfQueries {
  int batch, head, first;     // query of the tile
  int first_step, last_step;  // tiles of keys that it sees
  const Half *key, *value, *position;

  XLM_DEVICE explicit BlockOfQueries(const Arguments& a)
      : batch(block_y() / a.heads),
        head(block_y() % a.heads),
        first(block_x() * kTile),
        first_step((a.key_offset > first ? a.key_offset - first : 0) / kTile),
        last_step((a.band + kTile - 2) / kTile),
        key(a.key.data + batch * a.key.batch + head * a.key.head),
        value(a.value.data + batch * a.value.batch + head * a.value.head),
        position(a.position.data + head * a.position.head) {
    const int last_key = (a.keys - 1 + a.key_offset - first) / kTile;  // the tile that holds it
    if (last_key < last_step) last_step = last_key;
  }

  /// The rows of its head.
  template <class T>
  XLM_DEVICE T* rows(const Rows<T>& of) const {
    return of.data + batch * of.batch + head * of.head;
  }

  /// The first key of a tile.
  XLM_DEVICE int key_of(const Arguments& a, int step) const { return first + kTile * step - a.key_offset; }
};

/// Grid: (tiles of queries, B·n). Writes out and sums.
template <int kWidth, bool kTwoQueries, bool kMasked, bool kDropped>
XLM_DEVICE void forward(const Arguments& a) {
  constexpr int kStride = kWidth + kPad;
  constexpr int kTileSize = kTile * kStride;
  Half* query = static_cast<Half*>(shared_memory());
  Half* position_query = kTwoQueries ? query + kTileSize : query;
  Half* key = position_query + kTileSize;
  Half* value = key + kTileSize;
  Half* position = value + kTileSize;
  float* ring = reinterpret_cast<float*>(position + kTileSize);

  const Place place;
  const BlockOfQueries block(a);
  load_rows<kWidth>(query, block.rows(a.query), a.query.row, block.first, a.queries);
  if (kTwoQueries) {
    load_rows<kWidth>(position_query, block.rows(a.position_query), a.position_query.row, block.first, a.queries);
  }
  const QueryRow rows[2] = {QueryRow::of<kMasked, kDropped>(a, block.batch, block.head, block.first + place.row(0)),
                            QueryRow::of<kMasked, kDropped>(a, block.batch, block.head, block.first + place.row(1))};
  float largest[2] = {kNothing, kNothing};
  float sum[2] = {};   // of exponentials, over the columns of this thread
  float kept[2] = {};  // of those times the mask
  float attended[kWidth / 8][4] = {};

  if (block.first_step > 0) {  // distances that the first tile of keys shares with the one before
    load_rows<kWidth>(position, block.position, a.position.row, kTile * (block.first_step - 1), a.band);
    sync_block();
    float by_distance[8][4];
    multiply_rows<kWidth>(by_distance, position_query + 16 * place.warp * kStride, position, place.lane);
    store_ring(ring, by_distance, block.first_step - 1, place);
    sync_block();
  }
  for (int step = block.first_step; step <= block.last_step; ++step) {
    load_rows<kWidth>(key, block.key, a.key.row, block.key_of(a, step), a.keys);
    load_rows<kWidth>(value, block.value, a.value.row, block.key_of(a, step), a.keys);
    load_rows<kWidth>(position, block.position, a.position.row, kTile * step, a.band);
    sync_block();
    float scores[8][4];
    multiply_rows<kWidth>(scores, position_query + 16 * place.warp * kStride, position, place.lane);
    store_ring(ring, scores, step, place);
    sync_warp();
    multiply_rows<kWidth>(scores, query + 16 * place.warp * kStride, key, place.lane);
    float most[2] = {kNothing, kNothing};
    XLM_UNROLL
    for (int n = 0; n < 8; ++n) {
      XLM_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int row = place.row(i / 2);
        const int column = kTile * step + place.column(n, i) - row;  // of the band
        const float score = (scores[n][i] + ring[row * kRingStride + (column & (kRing - 1))]) * a.scale;
        scores[n][i] = rows[i / 2].sees(a, column) ? score : kNothing;
        most[i / 2] = larger(most[i / 2], scores[n][i]);
      }
    }
    XLM_UNROLL
    for (int half = 0; half < 2; ++half) {
      most[half] = larger(most[half], shuffle_xor(most[half], 1));  // over the four lanes of a row
      most[half] = larger(most[half], shuffle_xor(most[half], 2));
      const float now = larger(largest[half], most[half]);
      const float shrunk = exponential_2((largest[half] - now) * kLog2e);
      largest[half] = now;
      sum[half] *= shrunk;
      kept[half] *= shrunk;
      XLM_UNROLL
      for (int n = 0; n < kWidth / 8; ++n) {
        attended[n][2 * half] *= shrunk;
        attended[n][2 * half + 1] *= shrunk;
      }
    }
    XLM_UNROLL
    for (int n = 0; n < 8; ++n) {
      XLM_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int half = i / 2;
        const int column = kTile * step + place.column(n, i) - place.row(half);
        float weight = scores[n][i] == kNothing ? 0.0F : exponential_2((scores[n][i] - largest[half]) * kLog2e);
        sum[half] += weight;
        if (kMasked) {
          weight *= clamped(rows[half].mask_line(a, column));
          kept[half] += weight;
        }
        if (kDropped) weight *= rows[half].drop_factor(a, column);
        scores[n][i] = weight;
      }
    }
    unsigned weights[4][4];  // the sums of two blocks of columns are the fragment of one step
    XLM_UNROLL
    for (int k = 0; k < 4; ++k) {
      weights[k][0] = pack(scores[2 * k][0], scores[2 * k][1]);
      weights[k][1] = pack(scores[2 * k][2], scores[2 * k][3]);
      weights[k][2] = pack(scores[2 * k + 1][0], scores[2 * k + 1][1]);
      weights[k][3] = pack(scores[2 * k + 1][2], scores[2 * k + 1][3]);
    }
    multiply_add_rows<kWidth>(attended, weights, value, place.lane);
    sync_block();
  }

  XLM_UNROLL
  for (int half = 0; half < 2; ++half) {
    for (int mask = 1; mask <= 2; mask *= 2) {
      sum[half] += shuffle_xor(sum[half], mask);
      kept[half] += shuffle_xor(kept[half], mask);
    }
    if (!rows[half].there) continue;
    const float share = kMasked ? kept[half] / sum[half] + kMaskEpsilon : 1.0F;
    const float scale = 1.0F / (sum[half] * share);
    Half* out = block.rows(a.out) + rows[half].query * a.out.row;
    XLM_UNROLL
    for (int n = 0; n < kWidth / 8; ++n) {
      store_pair(out + place.column(n, 0), pack(attended[n][2 * half] * scale, attended[n][2 * half + 1] * scale));
    }
    if (place.lane % 4 == 0) {
      float* sums = a.sums + 2 * (static_cast<long long>(block_y()) * a.queries + rows[half].query);
      sums[0] = largest[half] + natural_logarithm(sum[half]);
      sums[1] = share;
    }
  }
}

/// Grid as forward's. Writes d_query, d_position_query and d_span, adds to d_key, d_value and d_position.
template <int kWidth, bool kTwoQueries, bool kMasked, bool kDropped>
XLM_DEVICE void backward(const Arguments& a) {
  constexpr int kStride = kWidth + kPad;
  constexpr int kTileSize = kTile * kStride;
  Half* query = static_cast<Half*>(shared_memory());
  Half* position_query = kTwoQueries ? query + kTileSize : query;
  Half* d_out = position_query + kTileSize;
  Half* key = d_out + kTileSize;
  Half* value = key + kTileSize;
  Half* positions = value + kTileSize;  // two tiles, by the parity of their number
  Half* weights = value;                // in the place of `value`, which is no longer needed then
  Half* d_scores = positions + 2 * kTileSize;
  Half* d_ring = d_scores + kTile * kPairStride;  // gradients of scores by distance
  float* ring = reinterpret_cast<float*>(d_ring + kTile * kRingGradientStride);

  const Place place;
  const BlockOfQueries block(a);
  load_rows<kWidth>(query, block.rows(a.query), a.query.row, block.first, a.queries);
  if (kTwoQueries) {
    load_rows<kWidth>(position_query, block.rows(a.position_query), a.position_query.row, block.first, a.queries);
  }
  load_rows<kWidth>(d_out, block.rows(a.d_out), a.d_out.row, block.first, a.queries);
  for (int i = thread_index(); i < kTile * kRingGradientStride; i += kThreads) d_ring[i] = 0;

  const QueryRow rows[2] = {QueryRow::of<kMasked, kDropped>(a, block.batch, block.head, block.first + place.row(0)),
                            QueryRow::of<kMasked, kDropped>(a, block.batch, block.head, block.first + place.row(1))};
  float log_sum[2] = {};
  float inverse[2] = {};  // 1 / (Σ softmax · mask + ε)
  float dot[2] = {};      // Σ weights · their gradient = output · its gradient
  XLM_UNROLL
  for (int half = 0; half < 2; ++half) {
    if (rows[half].there) {
      const float* sums = a.sums + 2 * (static_cast<long long>(block_y()) * a.queries + rows[half].query);
      log_sum[half] = sums[0];
      inverse[half] = kMasked ? 1.0F / sums[1] : 1.0F;
      const Half* out = block.rows(a.out) + rows[half].query * a.out.row;
      const Half* gradient = block.rows(a.d_out) + rows[half].query * a.d_out.row;
      for (int k = place.lane % 4; k < kWidth; k += 4) dot[half] += to_float(out[k]) * to_float(gradient[k]);
    }
    for (int mask = 1; mask <= 2; mask *= 2) dot[half] += shuffle_xor(dot[half], mask);
  }
  float d_span[2] = {};
  float d_query[kWidth / 8][4] = {};
  float d_position_query[kTwoQueries ? kWidth / 8 : 1][4] = {};

  const auto gather_distances = [&](int tile) {  // of a tile of distances that is whole
    unsigned left[4][4];
    const Half* position = positions + (tile & 1) * kTileSize;
    const Half* gradients = d_ring + (tile & 1) * kTile;
    load_left(left, gradients + 16 * place.warp * kRingGradientStride, kRingGradientStride, place.lane);
    if constexpr (kTwoQueries) {
      multiply_add_rows<kWidth>(d_position_query, left, position, place.lane);
    } else {
      multiply_add_rows<kWidth>(d_query, left, position, place.lane);
    }
    load_left_transposed(left, gradients + 16 * place.warp, kRingGradientStride, place.lane);
    add_product<kWidth>(a.d_position.data + block.head * a.d_position.head, a.d_position.row, kTile * tile, a.band,
                        left, position_query, a.scale, place);
  };

  if (block.first_step > 0) {
    Half* position = positions + ((block.first_step - 1) & 1) * kTileSize;
    load_rows<kWidth>(position, block.position, a.position.row, kTile * (block.first_step - 1), a.band);
    sync_block();
    float by_distance[8][4];
    multiply_rows<kWidth>(by_distance, position_query + 16 * place.warp * kStride, position, place.lane);
    store_ring(ring, by_distance, block.first_step - 1, place);
  }
  for (int step = block.first_step; step <= block.last_step; ++step) {
    Half* position = positions + (step & 1) * kTileSize;
    load_rows<kWidth>(key, block.key, a.key.row, block.key_of(a, step), a.keys);
    load_rows<kWidth>(value, block.value, a.value.row, block.key_of(a, step), a.keys);
    load_rows<kWidth>(position, block.position, a.position.row, kTile * step, a.band);
    sync_block();
    float scores[8][4];
    float gradients[8][4];
    multiply_rows<kWidth>(scores, position_query + 16 * place.warp * kStride, position, place.lane);
    store_ring(ring, scores, step, place);
    sync_warp();
    multiply_rows<kWidth>(scores, query + 16 * place.warp * kStride, key, place.lane);
    multiply_rows<kWidth>(gradients, d_out + 16 * place.warp * kStride, value, place.lane);
    sync_block();
    XLM_UNROLL
    for (int n = 0; n < 8; ++n) {
      XLM_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int half = i / 2;
        const int row = place.row(half);
        const int column = kTile * step + place.column(n, i) - row;
        float weight = 0;
        float gradient = 0;
        if (rows[half].sees(a, column)) {
          const float score = (scores[n][i] + ring[row * kRingStride + (column & (kRing - 1))]) * a.scale;
          const float softmax = exponential_2((score - log_sum[half]) * kLog2e);
          weight = softmax;
          gradient = gradients[n][i];
          if (kDropped) {
            const float factor = rows[half].drop_factor(a, column);
            weight *= factor;
            gradient *= factor;
          }
          gradient -= dot[half];
          if (kMasked) {
            gradient *= inverse[half];
            const float line = rows[half].mask_line(a, column);
            const float mask = clamped(line);
            if (mask == line) d_span[half] += softmax * gradient;  // the clamp's corners belong to its slope
            gradient = mask * gradient - dot[half] * kMaskEpsilon * inverse[half];
            weight *= mask * inverse[half];
          }
          gradient *= softmax;
        }
        const Half rounded = to_half(gradient);
        weights[row * kPairStride + place.column(n, i)] = to_half(weight);
        d_scores[row * kPairStride + place.column(n, i)] = rounded;
        d_ring[row * kRingGradientStride + (column & (kRing - 1))] = rounded;
      }
    }
    sync_block();
    unsigned left[4][4];
    const long long keys = static_cast<long long>(block_y()) * a.keys * kWidth;
    load_left_transposed(left, weights + 16 * place.warp, kPairStride, place.lane);
    add_product<kWidth>(a.d_value + keys, kWidth, block.key_of(a, step), a.keys, left, d_out, 1.0F, place);
    load_left_transposed(left, d_scores + 16 * place.warp, kPairStride, place.lane);
    add_product<kWidth>(a.d_key + keys, kWidth, block.key_of(a, step), a.keys, left, query, a.scale, place);
    load_left(left, d_scores + 16 * place.warp * kPairStride, kPairStride, place.lane);
    multiply_add_rows<kWidth>(d_query, left, key, place.lane);
    if (step > 0) gather_distances(step - 1);
    sync_block();
  }
  // The entries that a further tile of keys would write lie beyond the band, so their old values are multiplied by
  // zero.
  gather_distances(block.last_step);

  XLM_UNROLL
  for (int half = 0; half < 2; ++half) {
    for (int mask = 1; mask <= 2; mask *= 2) d_span[half] += shuffle_xor(d_span[half], mask);
    if (!rows[half].there) continue;
    const int query_row = rows[half].query;
    Half* to = block.rows(a.d_query) + query_row * a.d_query.row;
    XLM_UNROLL
    for (int n = 0; n < kWidth / 8; ++n) {
      store_pair(to + place.column(n, 0), pack(d_query[n][2 * half] * a.scale, d_query[n][2 * half + 1] * a.scale));
    }
    if constexpr (kTwoQueries) {
      Half* other = block.rows(a.d_position_query) + query_row * a.d_position_query.row;
      XLM_UNROLL
      for (int n = 0; n < kWidth / 8; ++n) {
        store_pair(other + place.column(n, 0),
                   pack(d_position_query[n][2 * half] * a.scale, d_position_query[n][2 * half + 1] * a.scale));
      }
    }
    if (kMasked && place.lane % 4 == 0) {
      a.d_span[static_cast<long long>(block_y()) * a.queries + query_row] = d_span[half] / a.ramp;
    }
  }
}

}  // namespace xlm::band
