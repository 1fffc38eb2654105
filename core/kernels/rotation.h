// Rotary positions: pairs of numbers of queries and keys turn by angles that grow with the position
// (Su et al. 2021, §3.2.2).
#pragma once

#include <torch/torch.h>

namespace xlm {

/// The pairs of a head of d numbers.
enum class RotatedPairs {
  kNeighbours,  // (2i, 2i + 1)
  kHalves       // (i, i + d/2), as Llama has
};

/// Angles of the pairs at some positions, for all layers.
class PairRotation {
 public:
  /// `angles` [T, d/2] in double, on the device of what is turned; `type` is what is computed in: float or double.
  PairRotation(const torch::Tensor& angles, RotatedPairs pairs, torch::ScalarType type);

  /// x [B, T, n, d], turned and rounded to its type once.
  torch::Tensor turn(const torch::Tensor& x) const;

 private:
  RotatedPairs pairs_;
  torch::ScalarType type_;
  torch::Tensor factors_;    // neighbours: cos + i·sin, complex [T, 1, d/2]
  torch::Tensor cos_, sin_;  // halves: [T, 1, d/2]
};

}  // namespace xlm
