// A file of one start of an attention kernel: what it was called with, what it read, what it computed. The stand-in
// writes it; a test computes the same from what was read.
//
// The header, then arrays of floats, each with contiguous rows [B, n, rows, d] in the order of Arrays. An array that
// the kernel does not have is empty.
#pragma once

#include <cstdint>

namespace null_cuda {

struct RecordHeader {
  std::int32_t forward;  // 1, or 0 for backward
  std::int32_t batch, heads, queries, keys, band, width, key_offset;
  std::int32_t two_queries, masked, dropped, drop_by_key;
  std::int32_t one_position;  // for all heads: its gradient is the sum over them
  float scale, ramp, drop_scale;
  std::uint32_t drop_threshold;
  std::uint64_t seed;
};

/// What was read: [B, n, M, d], [B, n, M, d], [B, n, T, d], [B, n, T, d], [1, n, L, d], [B, n, M, 1] and, of the
/// backward pass, [B, n, M, d].
enum ReadArray { kQuery, kPositionQuery, kKey, kValue, kPosition, kSpan, kOutGradient, kReadArrays };
/// What was computed: forward the output [B, n, M, d], alone. Backward the gradients of the first six, of the position
/// summed over the batch.
enum : int { kOutputArrays = 1, kGradientArrays = 6 };

}  // namespace null_cuda
