// The arguments of the GPU's attention kernels. Both the program's compiler and the kernels' compiler read this file,
// so it includes nothing.
//
// B batch, n heads, M queries, T keys, L band, d head width. Query i sees the columns j = 0 … L − 1 of its band; column
// j is the key i + j − key_offset. A query does not see a column whose key is not in 0 … T − 1.
#pragma once

namespace xlm::band {

using Half = unsigned short;  // the bits of a bfloat16

constexpr int kTile = 64;      // queries, keys and distances of a tile
constexpr int kThreads = 128;  // of a block: four warps, each with 16 rows of the tile of queries

constexpr int kPad = 8;  // of rows in shared memory: rows of matrices fall into different banks

/// A row for each query of a tile with its scores by distance: a warp's 16 queries and kKeys keys have kKeys + 15.
template <int kKeys>
struct Strips {
  static constexpr int kColumns = kKeys + 16;
  static constexpr int kStride = kColumns + 8;  // of floats
  static constexpr int kBytes = kTile * kStride * 4;
};

constexpr int kRing = 2 * kTile;        // gradients by distance: two tiles
constexpr int kRingStride = kRing + 8;  // of bfloat16
constexpr int kRingBytes = kTile * kRingStride * 2;

/// Numbers of a query that the pass over queries hands to the pass over keys (QueryNumbers).
constexpr int kQueryNumbers = 8;

/// The widest heads for which the next tile is loaded while the present one is used, in two stages. Others and compact
/// kinds have one.
constexpr int kInStages = 64;

/// The widest heads for which a backward pass takes all scores of a warp at once. Others would have too few registers,
/// and it takes half of them at a time.
constexpr int kBackwardAtOnce = 64;

/// What a kernel is compiled for.
struct Kind {
  int width;         // d: 64, 96 or 128
  bool two_queries;  // scores of content and of position have a query each
  bool masked;       // by the soft mask
  bool dropped;
  bool compact = false;  // for blocks with less shared memory: less is loaded ahead
};

#if !defined(__CUDACC_RTC__)  // the kernels do not need these
constexpr int tiles_of(int rows) { return (rows + kTile - 1) / kTile; }
constexpr int tile_bytes(Kind kind) { return kTile * (kind.width + kPad) * 2; }

constexpr int stages_of(Kind kind) { return kind.width <= kInStages && !kind.compact ? 2 : 1; }

/// Bytes of shared memory of a block, of each kernel.
constexpr int forward_memory(Kind kind) {
  const int stages = stages_of(kind);
  return ((kind.two_queries ? 2 : 1) + 2 * stages + stages + 1) * tile_bytes(kind) + Strips<kTile>::kBytes;
}
constexpr int backward_queries_memory(Kind kind) {
  const int strips = kind.compact ? Strips<kTile / 2>::kBytes : Strips<kTile>::kBytes;
  return ((kind.two_queries ? 3 : 2) + 2 + (kind.compact ? 2 : 3)) * tile_bytes(kind) + kRingBytes + strips;
}
constexpr int backward_keys_memory(Kind kind) {
  const int stages = stages_of(kind);
  return (2 + 2 * stages + (kind.two_queries ? 1 : 0) + 2) * tile_bytes(kind) + Strips<kTile>::kBytes +
         stages * kQueryNumbers * kTile * 4;
}
/// The most of the three.
constexpr int block_memory(Kind kind) {
  const int queries = backward_queries_memory(kind);
  const int keys = backward_keys_memory(kind);
  const int backward = queries > keys ? queries : keys;
  return forward_memory(kind) > backward ? forward_memory(kind) : backward;
}

/// The kind for blocks that may have so many bytes of shared memory: compact if it does not fit otherwise.
constexpr Kind fitting(Kind kind, int shared_memory) {
  kind.compact = false;
  kind.compact = block_memory(kind) > shared_memory;
  return kind;
}
#endif

/// A [B, n, rows, d] tensor whose rows are contiguous and begin at 16 bytes; strides in elements.
template <class T>
struct Rows {
  T* data;
  long long batch, head, row;
};

struct Arguments {
  Rows<const Half> query;           // [B, n, M, d], for the products with keys
  Rows<const Half> position_query;  // [B, n, M, d], for those with positions
  Rows<const Half> key, value;      // [B, n, T, d]
  Rows<const Half> position;        // [-, n, L, d], row j belongs to column j; strides may be 0 or negative
  Rows<const float> span;           // z [B, n, M, 1]
  Rows<Half> out;                   // [B, n, M, d]
  float* sums;                      // [B, n, M, 2]: log Σ exp(score); Σ softmax · mask + ε, or 1

  Rows<const Half> d_out;  // [B, n, M, d]
  Rows<Half> d_query;      // [B, n, M, d], with the positions' share if one query serves both
  Rows<Half> d_position_query;
  Rows<Half> d_key;        // [B, n, T, d]
  Rows<Half> d_value;      // [B, n, T, d]
  Rows<float> d_position;  // [-, n, L, d]; the kernels add to it
  float* d_span;           // [B, n, M]
  float* numbers;          // [B, n, M, kQueryNumbers], from the pass over queries to that over keys

  int heads, queries, keys, band, key_offset;
  float scale;                           // of scores: 1 / √d
  float ramp;                            // R of the soft mask
  float drop_scale;                      // 1 / (1 − dropout)
  unsigned drop_threshold;               // of 2^24
  bool drop_by_key;                      // dropout counts columns by key, not by band
  const unsigned long long* seed_place;  // of the dropout, in the GPU's memory; null: use `seed`
  unsigned long long seed;               // of the dropout
};

}  // namespace xlm::band
