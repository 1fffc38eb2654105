// What the attention kernels share: tiles in shared memory, products of tiles, scores by distance, rows of queries.
//
// A block has tiles of 64 queries and 64 keys. Their scores have 127 distances, which are in two tiles of positions;
// the 16 queries of a warp have 79 of them. Products have bfloat16 operands and float32 sums; everything else is
// float32. Only tiles at an edge of the band, of the keys or of the soft mask's ramp compare columns.
//
// NVRTC reads this code after gpu_block.cuh. The tests read it after a stand-in that runs the threads of a block as
// fibers. It includes only its arguments and the dropout. Work within a warp synchronises the warp; work between warps
// synchronises the block.
#pragma once

#include "core/cuda/kernels/band_arguments.h"
#include "core/cuda/kernels/dropout.cuh"

namespace xlm::band {

constexpr float kMaskEpsilon = 1e-8F;  // of the renormalisation, as in banded_rows.cpp
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

/// Begins to copy 64 rows, from `first` on, to shared memory. Rows that are not in 0 … count − 1 are zero.
template <int kWidth>
XLM_DEVICE void load_rows(Half* to, const Half* from, long long stride, int first, int count) {
  constexpr int kPieces = kWidth / 8;
  constexpr bool kWholeRows = kThreads % kPieces == 0;  // all threads together take whole rows at a time
  const int first_piece = thread_index();
  const Half* source = from + static_cast<long long>(first + first_piece / kPieces) * static_cast<int>(stride) +
                       8 * (first_piece % kPieces);
  XLM_UNROLL
  for (int i = 0; i < kTile * kPieces / kThreads; ++i) {
    const int piece = first_piece + i * kThreads;
    const int row = kWholeRows ? first_piece / kPieces + i * (kThreads / kPieces) : piece / kPieces;
    const int column = 8 * ((kWholeRows ? first_piece : piece) % kPieces);
    const bool there = static_cast<unsigned>(first + row) < static_cast<unsigned>(count);
    if (!kWholeRows) source = from + static_cast<long long>(first + row) * static_cast<int>(stride) + column;
    begin_copy(to + row * (kWidth + kPad) + column, source, there);
    if (kWholeRows) source += kThreads / kPieces * stride;
  }
}

/// sum = left · rightᵀ: 16 rows of `left`, as many of `right` as the sum has columns, both row by row in shared memory.
template <int kWidth, int kBlocks>
XLM_DEVICE void multiply_rows(float (&sum)[kBlocks][4], const Half* left, const Half* right, int lane) {
  constexpr int kStride = kWidth + kPad;
  XLM_UNROLL
  for (int block = 0; block < kBlocks; ++block) {
    XLM_UNROLL
    for (int i = 0; i < 4; ++i) sum[block][i] = 0;
  }
  XLM_UNROLL
  for (int k = 0; k < kWidth; k += 16) {
    unsigned a[4];
    load_matrices(a, left + (lane % 16) * kStride + k + 8 * (lane / 16));
    XLM_UNROLL
    for (int block = 0; block < kBlocks; block += 2) {
      unsigned b[4];
      load_matrices(b, right + (8 * block + lane % 8 + 8 * (lane / 16)) * kStride + k + 8 * (lane / 8 % 2));
      multiply_add(sum[block], a, b[0], b[1]);
      multiply_add(sum[block + 1], a, b[2], b[3]);
    }
  }
}

/// sum += left · right: `left` as fragments of steps of 16 columns, `right` row by row, as many rows.
template <int kWidth, int kSteps>
XLM_DEVICE void multiply_add_rows(float (&sum)[kWidth / 8][4], const unsigned (&left)[kSteps][4], const Half* right,
                                  int lane) {
  constexpr int kStride = kWidth + kPad;
  XLM_UNROLL
  for (int k = 0; k < kSteps; ++k) {
    XLM_UNROLL
    for (int block = 0; block < kWidth / 8; block += 2) {
      unsigned b[4];
      load_matrices_transposed(b, right + (16 * k + lane % 16) * kStride + 8 * block + 8 * (lane / 16));
      multiply_add(sum[block], left[k], b[0], b[1]);
      multiply_add(sum[block + 1], left[k], b[2], b[3]);
    }
  }
}

/// Sums as fragments: the sums of two blocks of columns are the fragment of one step.
template <int kSteps, int kBlocks>
XLM_DEVICE void pack_left(unsigned (&left)[kSteps][4], const float (&sum)[kBlocks][4]) {
  static_assert(kBlocks == 2 * kSteps, "a step has two blocks");
  XLM_UNROLL
  for (int k = 0; k < kSteps; ++k) {
    left[k][0] = pack(sum[2 * k][0], sum[2 * k][1]);
    left[k][1] = pack(sum[2 * k][2], sum[2 * k][3]);
    left[k][2] = pack(sum[2 * k + 1][0], sum[2 * k + 1][1]);
    left[k][3] = pack(sum[2 * k + 1][2], sum[2 * k + 1][3]);
  }
}

/// Stores factor · a row's share of sums (half 0 or 1) in bfloat16.
template <int kBlocks>
XLM_DEVICE void store_row(Half* to, const float (&sum)[kBlocks][4], int half, float factor, const Place& place) {
  XLM_UNROLL
  for (int n = 0; n < kBlocks; ++n) {
    store_pair(to + place.column(n, 0), pack(sum[n][2 * half] * factor, sum[n][2 * half + 1] * factor));
  }
}

/// Scores of a warp's 16 queries by distance: strip[row · stride + key − row + 16], for kKeys keys of a tile that begin
/// at its key `first`, a multiple of 16. `upper` are the positions of the columns of the tile's first query, `lower`
/// the 64 before these.
template <int kWidth, int kKeys>
XLM_DEVICE void score_positions(float* strip, const Half* query, const Half* lower, const Half* upper, int first,
                                const Place& place) {
  constexpr int kStride = kWidth + kPad;
  constexpr int kGroups = Strips<kKeys>::kColumns / 16;  // of 16 rows of positions
  const Half* rows[kGroups];
  XLM_UNROLL
  for (int j = 0; j < kGroups; ++j) {
    const int group = 3 - place.warp + first / 16 + j;
    rows[j] = (group < 4 ? lower : upper) + (16 * (group % 4) + place.lane % 8 + 8 * (place.lane / 16)) * kStride +
              8 * (place.lane / 8 % 2);
  }
  float sum[2 * kGroups][4] = {};
  XLM_UNROLL
  for (int k = 0; k < kWidth; k += 16) {
    unsigned a[4];
    load_matrices(a, query + (place.lane % 16) * kStride + k + 8 * (place.lane / 16));
    XLM_UNROLL
    for (int j = 0; j < kGroups; ++j) {
      unsigned b[4];
      load_matrices(b, rows[j] + k);
      multiply_add(sum[2 * j], a, b[0], b[1]);
      multiply_add(sum[2 * j + 1], a, b[2], b[3]);
    }
  }
  XLM_UNROLL
  for (int block = 0; block < 2 * kGroups; ++block) {
    XLM_UNROLL
    for (int half = 0; half < 2; ++half) {
      store_pair(strip + (8 * half + place.lane / 4) * Strips<kKeys>::kStride + place.column(block, 0),
                 sum[block][2 * half], sum[block][2 * half + 1]);
    }
  }
}

/// Where the place of a query's row in a warp's strip begins: key c is c further.
template <int kKeys>
XLM_DEVICE const float* row_of_strip(const float* strip, int row) {
  return strip + row * (Strips<kKeys>::kStride - 1) + 16;
}

/// Which columns a query sees, its span, and its dropout.
struct QueryRow {
  int query;
  bool there;
  float span;
  unsigned drop_key;  // of key 0

  template <bool kMasked, bool kDropped>
  static XLM_DEVICE QueryRow of(const Arguments& a, int batch, int head, int query) {
    QueryRow row{query, query < a.queries, 0, 0};
    if (kMasked && row.there) row.span = a.span.data[batch * a.span.batch + head * a.span.head + query * a.span.row];
    if (kDropped) {
      row.drop_key = drop_key_of(a.seed_place != nullptr ? *a.seed_place : a.seed, batch, head, query);
      if (!a.drop_by_key) row.drop_key += drop_step(a.key_offset - query);
    }
    return row;
  }
};

/// How far a column is beyond the end of the soft mask's ramp: the mask is 1 from 0 on, and 0 up to −R. Column L − 1 is
/// at the distance 1.
XLM_DEVICE float beyond_ramp(const Arguments& a, int column, float span) {
  return static_cast<float>(column + 1 - a.band) + span;
}

/// The soft mask there.
XLM_DEVICE float soft_mask(const Arguments& a, float beyond) {
  const float line = beyond * (1.0F / a.ramp) + 1.0F;
  return line < 0.0F ? 0.0F : (line > 1.0F ? 1.0F : line);
}

/// The least of a number of each lane of a warp.
XLM_DEVICE float least_of_warp(float x) {
  for (int mask = 1; mask < 32; mask *= 2) x = -larger(-x, -shuffle_xor(x, mask));
  return x;
}

/// Whether the columns of all queries and keys of a tile are in the band, where no soft mask shrinks any. `column` is
/// that of the first query and the first key, `span` the least of the queries.
template <bool kMasked>
XLM_DEVICE bool is_in_band(const Arguments& a, int column, float span) {
  const int least = column - (kTile - 1);
  return least >= 0 && column + kTile - 1 < a.band && (!kMasked || beyond_ramp(a, least, span) > 0.0F);
}

/// Whether all queries and keys of a tile are there.
XLM_DEVICE bool is_whole(const Arguments& a, int first_query, int first_key) {
  return first_query + kTile <= a.queries && first_key + kTile <= a.keys;
}

/// A tile of queries of a head, and the tiles of keys that it sees.
struct BlockOfQueries {
  int batch, head, first;        // query of the tile
  int first_key, steps, column;  // of the first tile of keys; column of the first query and the first key
  const Half *key, *value, *position;

  XLM_DEVICE explicit BlockOfQueries(const Arguments& a)
      : batch(block_y() / a.heads),
        head(block_y() % a.heads),
        first(((a.queries - 1) / kTile - block_x()) *
              kTile),  // the last has the most keys, if it sees only earlier ones
        first_key(larger_of(first - a.key_offset, 0)),
        steps(0),
        column(first_key + a.key_offset - first),
        key(a.key.data + batch * a.key.batch + head * a.key.head),
        value(a.value.data + batch * a.value.batch + head * a.value.head),
        position(a.position.data + head * a.position.head) {
    const int last_query = smaller_of(first + kTile, a.queries) - 1;
    const int last_key = smaller_of(last_query + a.band - 1 - a.key_offset, a.keys - 1);
    if (last_key >= first_key) steps = (last_key - first_key) / kTile + 1;
  }

  /// The rows of its head.
  template <class T>
  XLM_DEVICE T* rows(const Rows<T>& of) const {
    return of.data + batch * of.batch + head * of.head;
  }

  static XLM_DEVICE int larger_of(int a, int b) { return a > b ? a : b; }
  static XLM_DEVICE int smaller_of(int a, int b) { return a < b ? a : b; }
};

}  // namespace xlm::band
