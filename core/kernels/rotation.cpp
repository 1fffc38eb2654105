// Rotary positions: each number becomes itself times a cosine plus the other one of its pair times a sine.
//
// T positions, d head width.
#include "core/kernels/rotation.h"

#include <vector>

namespace xlm {

using torch::Tensor;

PairRotation::PairRotation(const Tensor& angles, RotatedPairs pairs, torch::ScalarType type)
    : pairs_(pairs), type_(type) {
  const Tensor cos = angles.cos().to(type);
  const Tensor sin = angles.sin().to(type);
  if (pairs == RotatedPairs::kNeighbours) {
    factors_ = torch::complex(cos, sin).unsqueeze(1);
  } else {
    cos_ = cos.unsqueeze(1);
    sin_ = sin.unsqueeze(1);
  }
}

Tensor PairRotation::turn(const Tensor& x) const {
  const torch::ScalarType given = x.scalar_type();
  const Tensor wide = x.to(type_);
  if (pairs_ == RotatedPairs::kNeighbours) {
    const Tensor pairs = torch::view_as_complex(wide.unflatten(-1, {-1, 2}).contiguous());
    return torch::view_as_real(pairs * factors_).flatten(-2).to(given);
  }
  const std::vector<Tensor> halves = wide.chunk(2, -1);
  return torch::cat({halves[0] * cos_ - halves[1] * sin_, halves[1] * cos_ + halves[0] * sin_}, -1).to(given);
}

}  // namespace xlm
