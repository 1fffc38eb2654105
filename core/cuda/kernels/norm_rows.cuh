// A residual stream, what a layer adds to it, and the norm of the sum, in one pass over memory; and their gradients in
// another. A warp has a row at a time, and a lane pairs of its columns, 64 columns apart, in registers.
//
// NVRTC reads this code after gpu_block.cuh; the tests read it after a stand-in that runs the threads of a block as
// fibers.
#pragma once

#include "core/cuda/kernels/dropout.cuh"
#include "core/cuda/kernels/norm_arguments.h"

namespace xlm::norm {

using namespace band;  // NOLINT(google-build-using-namespace): the operations of a block

XLM_DEVICE float sum_of_warp(float x) {
  for (int mask = 16; mask > 0; mask /= 2) x += shuffle_xor(x, mask);
  return x;
}

/// The columns that a lane has of a row of kWidth numbers, and the row.
template <int kWidth>
struct RowOfLane {
  static constexpr int kPairs = kWidth / kColumnStep;
  long long begin;      // of the row in its tensor
  int first;            // column
  unsigned key, limit;  // of the dropout

  XLM_DEVICE RowOfLane(const Arguments& a, int row)
      : begin(static_cast<long long>(row) * kWidth), first(2 * (thread_index() % 32)), key(0), limit(0) {
    if (a.drop_threshold > 0) {
      key = drop_key_of(a.seed_place != nullptr ? *a.seed_place : a.seed, row / a.lines, row % a.lines, 0);
      limit = drop_limit(a.drop_threshold);
    }
  }
  XLM_DEVICE int column(int pair) const { return first + kColumnStep * pair; }
  XLM_DEVICE long long place(int pair) const { return begin + column(pair); }
  /// The factor of what is added in a column.
  XLM_DEVICE float factor(const Arguments& a, int at) const {
    if (a.drop_threshold == 0) return 1;
    return keeps(key + drop_step(at), limit) ? a.drop_scale : 0;
  }
};

template <int kWidth, bool kCentred>
XLM_DEVICE void forward(const Arguments& a) {
  constexpr int kPairs = kWidth / kColumnStep;
  const int row = block_x() * kWarps + thread_index() / 32;
  if (row >= a.rows) return;
  const RowOfLane<kWidth> lane(a, row);
  float s[2 * kPairs];
  unsigned added[kPairs];
  XLM_UNROLL
  for (int i = 0; i < kPairs; ++i) {  // all loads before the first store: the compiler cannot know that they differ
    load_pair(a.stream + lane.place(i), s[2 * i], s[2 * i + 1]);
    added[i] = a.added != nullptr ? load_pair(a.added + lane.place(i)) : 0;
  }
  float total = 0;
  XLM_UNROLL
  for (int i = 0; i < kPairs; ++i) {
    if (a.added != nullptr) {
      s[2 * i] += to_float(lower_of(added[i])) * lane.factor(a, lane.column(i));
      s[2 * i + 1] += to_float(upper_of(added[i])) * lane.factor(a, lane.column(i) + 1);
      store_pair(a.sum + lane.place(i), s[2 * i], s[2 * i + 1]);
    }
    total += s[2 * i] + s[2 * i + 1];
  }
  const float mean = kCentred ? sum_of_warp(total) / kWidth : 0;
  float squares = 0;
  XLM_UNROLL
  for (int i = 0; i < 2 * kPairs; ++i) squares += (s[i] - mean) * (s[i] - mean);
  const float inverse = inverse_root(sum_of_warp(squares) / kWidth + a.epsilon);
  XLM_UNROLL
  for (int i = 0; i < kPairs; ++i) {
    float scale[2];
    float bias[2] = {0, 0};
    load_pair(a.scale + lane.column(i), scale[0], scale[1]);
    if (a.bias != nullptr) load_pair(a.bias + lane.column(i), bias[0], bias[1]);
    const float first = (s[2 * i] - mean) * inverse * scale[0] + bias[0];
    const float second = (s[2 * i + 1] - mean) * inverse * scale[1] + bias[1];
    if (a.normed != nullptr) store_pair(a.normed + lane.place(i), first, second);
    if (a.rounded != nullptr) store_pair(a.rounded + lane.place(i), pack(first, second));
  }
  if (thread_index() % 32 == 0) store_pair(a.sums + 2LL * row, mean, inverse);
}

/// A block has every blocks-th group of rows. It sums the gradients of scale and bias over its rows.
template <int kWidth, bool kCentred>
XLM_DEVICE void backward(const Arguments& a, int blocks) {
  constexpr int kPairs = kWidth / kColumnStep;
  const int warp = thread_index() / 32;
  float d_scale[2 * kPairs] = {};
  float d_bias[2 * kPairs] = {};
  for (int row = block_x() * kWarps + warp; row < a.rows; row += blocks * kWarps) {
    const RowOfLane<kWidth> lane(a, row);
    float mean;
    float inverse;
    load_pair(a.sums + 2LL * row, mean, inverse);
    float rest[2 * kPairs];      // x̂
    float gradient[2 * kPairs];  // of x̂
    float more[2 * kPairs];      // the gradient of s that comes from elsewhere
    float total = 0;
    float along = 0;
    XLM_UNROLL
    for (int i = 0; i < kPairs; ++i) {
      float s[2];
      float scale[2];
      float upstream[2] = {0, 0};
      load_pair(a.stream + lane.place(i), s[0], s[1]);
      load_pair(a.scale + lane.column(i), scale[0], scale[1]);
      more[2 * i] = 0;
      more[2 * i + 1] = 0;
      if (a.d_sum != nullptr) load_pair(a.d_sum + lane.place(i), more[2 * i], more[2 * i + 1]);
      if (a.d_normed != nullptr) load_pair(a.d_normed + lane.place(i), upstream[0], upstream[1]);
      if (a.d_rounded != nullptr) {
        const unsigned pair = load_pair(a.d_rounded + lane.place(i));
        upstream[0] += to_float(lower_of(pair));
        upstream[1] += to_float(upper_of(pair));
      }
      XLM_UNROLL
      for (int j = 0; j < 2; ++j) {
        const int at = 2 * i + j;
        rest[at] = (s[j] - mean) * inverse;
        gradient[at] = upstream[j] * scale[j];
        total += gradient[at];
        along += gradient[at] * rest[at];
        d_scale[at] += upstream[j] * rest[at];
        d_bias[at] += upstream[j];
      }
    }
    const float shift = kCentred ? sum_of_warp(total) / kWidth : 0;
    const float slope = sum_of_warp(along) / kWidth;
    XLM_UNROLL
    for (int i = 0; i < kPairs; ++i) {
      const float first = (gradient[2 * i] - shift - rest[2 * i] * slope) * inverse + more[2 * i];
      const float second = (gradient[2 * i + 1] - shift - rest[2 * i + 1] * slope) * inverse + more[2 * i + 1];
      store_pair(a.d_stream + lane.place(i), first, second);
      if (a.d_added != nullptr) {
        store_pair(a.d_added + lane.place(i),
                   pack(first * lane.factor(a, lane.column(i)), second * lane.factor(a, lane.column(i) + 1)));
      }
    }
  }
  float* of_warps = static_cast<float*>(shared_memory());  // [kWarps, 2, kWidth]
  float* own = of_warps + 2 * kWidth * warp + 2 * (thread_index() % 32);
  XLM_UNROLL
  for (int i = 0; i < kPairs; ++i) {
    store_pair(own + kColumnStep * i, d_scale[2 * i], d_scale[2 * i + 1]);
    store_pair(own + kWidth + kColumnStep * i, d_bias[2 * i], d_bias[2 * i + 1]);
  }
  sync_block();
  float* part = a.parts + 2LL * kWidth * block_x();
  for (int column = thread_index(); column < 2 * kWidth; column += kThreads) {
    float sum = 0;
    XLM_UNROLL
    for (int other = 0; other < kWarps; ++other) sum += of_warps[2 * kWidth * other + column];
    part[column] = sum;
  }
}

}  // namespace xlm::norm
