// The forward pass of attention over a band. A block has 64 queries and goes through the tiles of keys that they see.
// Grid: (tiles of queries, B·n). Writes out and sums.
#pragma once

#include "core/cuda/kernels/band_tiles.cuh"

namespace xlm::band {

/// Two queries of a thread: the largest score so far (before scaling), and sums over the columns of this thread.
struct ForwardRows {
  QueryRow rows[2];
  float span;  // the least of the warp
  float largest[2] = {kNothing, kNothing};
  float sum[2] = {};   // of exponentials
  float kept[2] = {};  // of those times the mask

  /// Scores by key become weights, before they are divided by their sum. What was summed before shrinks by `shrunk`.
  template <bool kEdge, bool kMasked, bool kDropped>
  XLM_DEVICE void weigh(float (&scores)[8][4], float (&shrunk)[2], const Arguments& a, const float* strip, int column,
                        int first_key, const Place& place) {
    const float scale = a.scale * kLog2e;
    const unsigned limit = kDropped ? drop_limit(a.drop_threshold) : 0;
    XLM_UNROLL
    for (int half = 0; half < 2; ++half) {
      const float* by_distance = row_of_strip<kTile>(strip, 8 * half + place.lane / 4) + place.column(0, 0);
      const int first_column = column + place.column(0, 0) - place.row(half);
      const int key = first_key + place.column(0, 0);
      float most = kNothing;
      XLM_UNROLL
      for (int n = 0; n < 8; ++n) {
        XLM_UNROLL
        for (int i = 0; i < 2; ++i) {
          const int c = 8 * n + i;
          float score = scores[n][2 * half + i] + by_distance[c];
          if (kEdge) {
            const bool sees = rows[half].there && first_column + c >= 0 && first_column + c < a.band && key + c >= 0 &&
                              key + c < a.keys;
            score = sees ? score : kNothing;
          }
          scores[n][2 * half + i] = score;
          most = larger(most, score);
        }
      }
      most = larger(most, shuffle_xor(most, 1));  // over the four lanes of a row
      most = larger(most, shuffle_xor(most, 2));
      const float now = larger(largest[half], most);
      shrunk[half] = exponential_2((largest[half] - now) * scale);
      largest[half] = now;
      sum[half] *= shrunk[half];
      kept[half] *= shrunk[half];
      const float subtracted = now * scale;
      const unsigned drop_key = kDropped ? rows[half].drop_key + drop_step(key) : 0;
      XLM_UNROLL
      for (int n = 0; n < 8; ++n) {
        XLM_UNROLL
        for (int i = 0; i < 2; ++i) {
          const int c = 8 * n + i;
          const float score = scores[n][2 * half + i];
          float weight = exponential_2(score * scale - subtracted);
          if (kEdge && score == kNothing) weight = 0;
          sum[half] += weight;
          if (kMasked) {
            if (kEdge) weight *= soft_mask(a, beyond_ramp(a, first_column + c, rows[half].span));
            kept[half] += weight;
          }
          if (kDropped && !keeps(drop_key + drop_step(c), limit)) weight = 0;
          scores[n][2 * half + i] = weight;
        }
      }
    }
  }
};

template <int kWidth, bool kTwoQueries, bool kMasked, bool kDropped, bool kCompact>
XLM_DEVICE void forward(const Arguments& a) {
  constexpr int kStride = kWidth + kPad;
  constexpr int kTileSize = kTile * kStride;
  constexpr int kStages = kWidth <= kInStages && !kCompact ? 2 : 1;
  constexpr int kSlots = kStages + 1;  // of positions
  Half* query = static_cast<Half*>(shared_memory());
  Half* position_query = kTwoQueries ? query + kTileSize : query;
  Half* keys = position_query + kTileSize;
  Half* values = keys + kStages * kTileSize;
  Half* positions = values + kStages * kTileSize;
  float* strips = reinterpret_cast<float*>(positions + kSlots * kTileSize);

  const Place place;
  const BlockOfQueries block(a);
  float* strip = strips + 16 * place.warp * Strips<kTile>::kStride;
  const auto slot = [&](int tile) { return positions + (tile + 1) % kSlots * kTileSize; };
  const auto load_step = [&](int step) {
    const int first = block.first_key + kTile * step;
    load_rows<kWidth>(keys + step % kStages * kTileSize, block.key, a.key.row, first, a.keys);
    load_rows<kWidth>(values + step % kStages * kTileSize, block.value, a.value.row, first, a.keys);
    load_rows<kWidth>(slot(step), block.position, a.position.row, block.column + kTile * step, a.band);
  };
  load_rows<kWidth>(query, block.rows(a.query), a.query.row, block.first, a.queries);
  if (kTwoQueries) {
    load_rows<kWidth>(position_query, block.rows(a.position_query), a.position_query.row, block.first, a.queries);
  }
  load_rows<kWidth>(slot(-1), block.position, a.position.row, block.column - kTile, a.band);
  load_step(0);

  ForwardRows rows{{QueryRow::of<kMasked, kDropped>(a, block.batch, block.head, block.first + place.row(0)),
                    QueryRow::of<kMasked, kDropped>(a, block.batch, block.head, block.first + place.row(1))},
                   0};
  if (kMasked) rows.span = least_of_warp(-larger(-rows.rows[0].span, -rows.rows[1].span));
  float attended[kWidth / 8][4] = {};
  for (int step = 0; step < block.steps; ++step) {
    if (kStages == 1 && step > 0) {
      sync_block();
      load_step(step);
    }
    await_copies();
    sync_block();
    if (kStages > 1 && step + 1 < block.steps) load_step(step + 1);
    const int column = block.column + kTile * step;
    const int first_key = block.first_key + kTile * step;
    score_positions<kWidth, kTile>(strip, position_query + 16 * place.warp * kStride, slot(step - 1), slot(step), 0,
                                   place);
    sync_warp();
    float scores[8][4];
    multiply_rows<kWidth>(scores, query + 16 * place.warp * kStride, keys + step % kStages * kTileSize, place.lane);
    float shrunk[2];
    if (is_whole(a, block.first, first_key) && is_in_band<kMasked>(a, column, rows.span)) {
      rows.weigh<false, kMasked, kDropped>(scores, shrunk, a, strip, column, first_key, place);
    } else {
      rows.weigh<true, kMasked, kDropped>(scores, shrunk, a, strip, column, first_key, place);
    }
    XLM_UNROLL
    for (int n = 0; n < kWidth / 8; ++n) {
      XLM_UNROLL
      for (int i = 0; i < 4; ++i) attended[n][i] *= shrunk[i / 2];
    }
    unsigned weights[4][4];
    pack_left(weights, scores);
    multiply_add_rows<kWidth>(attended, weights, values + step % kStages * kTileSize, place.lane);
  }
  await_copies();  // of a block without keys

  XLM_UNROLL
  for (int half = 0; half < 2; ++half) {
    for (int mask = 1; mask <= 2; mask *= 2) {
      rows.sum[half] += shuffle_xor(rows.sum[half], mask);
      rows.kept[half] += shuffle_xor(rows.kept[half], mask);
    }
    if (!rows.rows[half].there) continue;
    const float share = kMasked ? rows.kept[half] / rows.sum[half] + kMaskEpsilon : 1.0F;
    const float scale = (kDropped ? a.drop_scale : 1.0F) / (rows.sum[half] * share);
    const int query_row = rows.rows[half].query;
    store_row(block.rows(a.out) + query_row * a.out.row, attended, half, scale, place);
    if (place.lane % 4 == 0) {
      float* sums = a.sums + 2 * (static_cast<long long>(block_y()) * a.queries + query_row);
      sums[0] = rows.largest[half] * a.scale + natural_logarithm(rows.sum[half]);
      sums[1] = share;
    }
  }
}

}  // namespace xlm::band
