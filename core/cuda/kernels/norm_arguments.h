// The arguments of the GPU's kernels of norms. Both the program's compiler and the kernels' compiler read this file, so
// it includes only the types of band_arguments.h.
//
// R rows of k numbers. s = stream + added, with dropout of what is added; x̂ = (s − mean) · inverse, where root mean
// square has no mean; norm = x̂ · scale + bias.
#pragma once

#include "core/cuda/kernels/band_arguments.h"

namespace xlm::norm {

using band::Half;

constexpr int kWarps = band::kThreads / 32;  // of a block: each has a row at a time
constexpr int kColumnStep = 64;              // k is a multiple of it
constexpr int kMaxColumns = 1024;            // a lane has its part of a row in registers

/// What a kernel is compiled for.
struct Kind {
  int width;     // k
  bool centred;  // as layer norm; otherwise root mean square
};

#if !defined(__CUDACC_RTC__)  // the kernels do not need these
constexpr int forward_blocks(int rows) { return (rows + kWarps - 1) / kWarps; }
/// Blocks of the backward pass, each of which sums gradients of the weights: about as many as run at a time.
constexpr int most_parts(const Kind& kind) { return kind.width > 512 ? 264 : 528; }
constexpr int backward_blocks(const Kind& kind, int rows) {
  return forward_blocks(rows) < most_parts(kind) ? forward_blocks(rows) : most_parts(kind);
}
/// Bytes of shared memory of a block of the backward pass: two sums of each warp.
constexpr int backward_memory(const Kind& kind) { return 2 * kWarps * kind.width * 4; }
#endif

/// Tensors are contiguous and begin at 8 bytes. Any that is null is not written, or is zero.
struct Arguments {
  const float* stream;  // [R, k]
  const Half* added;    // [R, k]
  const float* scale;   // [k]
  const float* bias;    // [k]
  float* sum;           // [R, k]: s
  float* normed;        // [R, k]
  Half* rounded;        // [R, k]: the same as bfloat16
  float* sums;          // [R, 2]: mean, inverse

  const float* d_sum;     // [R, k]
  const float* d_normed;  // [R, k]
  const Half* d_rounded;  // [R, k]
  float* d_stream;        // [R, k]
  Half* d_added;          // [R, k]
  float* parts;           // [blocks, 2, k]: gradients of scale and bias

  int rows;
  int lines;  // rows of an entry of the batch
  float epsilon;
  float drop_scale;                      // 1 / (1 − dropout)
  unsigned drop_threshold;               // of 2^24
  const unsigned long long* seed_place;  // of the dropout, in the GPU's memory; null: use `seed`
  unsigned long long seed;               // of the dropout
};

}  // namespace xlm::norm
