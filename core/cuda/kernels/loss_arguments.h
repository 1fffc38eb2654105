// The arguments of the GPU's kernel of losses. Both the program's compiler and the kernels' compiler read this file, so
// it includes only the types of band_arguments.h.
#pragma once

#include "core/cuda/kernels/band_arguments.h"

namespace xlm::loss {

using band::Half;

constexpr int kPiece = 8;  // logits that a thread reads at a time: rows begin at multiples of 16 bytes

struct Arguments {
  Half* logits;              // [rows, stride]; their gradient afterwards, if it is wanted
  const long long* targets;  // [rows]; a negative one does not count
  float* losses;             // [rows], in nats
  int rows;
  int symbols;       // V; the logits behind them do not count
  long long stride;  // a multiple of kPiece
  bool gradient;
};

}  // namespace xlm::loss
