// The cross-entropy of rows of logits, and its gradient in their place. A block has a row, and reads it twice: for the
// largest logit with the sum of exponentials, and for the softmax, which it writes over the logits.
//
// NVRTC reads this code after gpu_block.cuh; the tests read it after a stand-in that runs the threads of a block as
// fibers.
#pragma once

#include "core/cuda/kernels/loss_arguments.h"

namespace xlm::loss {

using namespace band;  // NOLINT(google-build-using-namespace): the operations of a block

constexpr float kLog2e = 1.4426950408889634F;
constexpr float kLn2 = 0.6931471805599453F;
constexpr float kLeast = -1e30F;  // below every logit
constexpr int kWarps = kThreads / 32;

/// The largest x of some logits and Σ exp(x − largest).
struct SumOfExponentials {
  float largest = kLeast;
  float sum = 0;

  XLM_DEVICE void join(float other_largest, float other_sum) {
    const float both = larger(largest, other_largest);
    sum = sum * exponential_2((largest - both) * kLog2e) + other_sum * exponential_2((other_largest - both) * kLog2e);
    largest = both;
  }
};

XLM_DEVICE float logit(const unsigned (&pairs)[kPiece / 2], int i) {
  return to_float(i % 2 == 0 ? lower_of(pairs[i / 2]) : upper_of(pairs[i / 2]));
}

XLM_DEVICE void write_losses(const Arguments& a) {
  const int row = block_x();
  const int target = static_cast<int>(a.targets[row]);
  Half* logits = a.logits + row * a.stride;
  const int pieces = static_cast<int>(a.stride) / kPiece;
  if (target < 0) {
    if (thread_index() == 0) a.losses[row] = 0;
    const unsigned nothing[kPiece / 2] = {};
    for (int piece = thread_index(); a.gradient && piece < pieces; piece += kThreads) {
      store_piece(logits + kPiece * piece, nothing);
    }
    return;
  }
  const float wanted = to_float(logits[target]);  // before any thread writes
  SumOfExponentials all;
  for (int piece = thread_index(); piece < pieces; piece += kThreads) {
    unsigned pairs[kPiece / 2];
    load_piece(logits + kPiece * piece, pairs);
    float x[kPiece];
    float largest = all.largest;
    XLM_UNROLL
    for (int i = 0; i < kPiece; ++i) {
      x[i] = kPiece * piece + i < a.symbols ? logit(pairs, i) : kLeast;
      largest = larger(largest, x[i]);
    }
    all.sum *= exponential_2((all.largest - largest) * kLog2e);
    all.largest = largest;
    XLM_UNROLL
    for (int i = 0; i < kPiece; ++i) {
      if (kPiece * piece + i < a.symbols) all.sum += exponential_2((x[i] - largest) * kLog2e);
    }
  }
  for (int mask = 16; mask > 0; mask /= 2) {
    const float largest = shuffle_xor(all.largest, mask);
    const float sum = shuffle_xor(all.sum, mask);
    all.join(largest, sum);
  }
  float* of_warps = static_cast<float*>(shared_memory());  // [kWarps, 2]
  if (thread_index() % 32 == 0) store_pair(of_warps + 2 * (thread_index() / 32), all.largest, all.sum);
  sync_block();
  all = SumOfExponentials();
  XLM_UNROLL
  for (int warp = 0; warp < kWarps; ++warp) all.join(of_warps[2 * warp], of_warps[2 * warp + 1]);
  if (thread_index() == 0) a.losses[row] = all.largest + natural_logarithm(all.sum) - wanted;
  if (!a.gradient) return;

  const float scale = 1 / all.sum;
  for (int piece = thread_index(); piece < pieces; piece += kThreads) {
    unsigned pairs[kPiece / 2];
    load_piece(logits + kPiece * piece, pairs);
    float gradient[kPiece];
    XLM_UNROLL
    for (int i = 0; i < kPiece; ++i) {
      const int symbol = kPiece * piece + i;
      gradient[i] = symbol < a.symbols ? exponential_2((logit(pairs, i) - all.largest) * kLog2e) * scale : 0;
      if (symbol == target) gradient[i] -= 1;
    }
    XLM_UNROLL
    for (int i = 0; i < kPiece / 2; ++i) pairs[i] = pack(gradient[2 * i], gradient[2 * i + 1]);
    store_piece(logits + kPiece * piece, pairs);
  }
}

}  // namespace xlm::loss
