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

constexpr int kRing = 2 * kTile;                // distances in shared memory
constexpr int kRingStride = kRing + 4;          // of floats
constexpr int kRingGradientStride = kRing + 8;  // of bfloat16
constexpr int kPairStride = kTile + 8;          // of a tile of weights, bfloat16
constexpr int kPad = 8;                         // of rows in shared memory: rows of matrices fall into different banks

/// What a kernel is compiled for.
struct Kind {
  int width;         // d: 64, 96 or 128
  bool two_queries;  // scores of content and of position have a query each
  bool masked;       // by the soft mask
  bool dropped;
};

#if !defined(__CUDACC_RTC__)  // the kernels do not need these
/// Bytes of shared memory of a block.
constexpr int forward_memory(Kind kind) {
  return (3 + (kind.two_queries ? 2 : 1)) * kTile * (kind.width + kPad) * 2 + kTile * kRingStride * 4;
}
constexpr int backward_memory(Kind kind) {
  return (5 + (kind.two_queries ? 2 : 1)) * kTile * (kind.width + kPad) * 2 + kTile * kRingStride * 4 +
         kTile * kRingGradientStride * 2 + kTile * kPairStride * 2;
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
  float* d_key;            // [B, n, T, d], contiguous; the kernels add to it, and to the next two
  float* d_value;          // [B, n, T, d]
  Rows<float> d_position;  // [-, n, L, d]
  float* d_span;           // [B, n, M]

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
