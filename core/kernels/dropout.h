// Dropout as a function of place: a seed, a row of the batch and a position in it decide whether an element is kept. So
// a kernel can draw it when it needs it, its backward pass draws the same again, and a batch that is computed in parts
// drops the same elements.
#pragma once

#include <cmath>
#include <cstdint>

#include <torch/torch.h>

#include "base/random.h"
#include "core/kernels/simd.h"

namespace xlm {

class Dropout {
 public:
  /// Drops with `probability` in [0, 1).
  explicit Dropout(double probability)
      : threshold_(static_cast<std::uint32_t>(std::lround(probability * 16777216.0))),
        scale_(static_cast<float>(1 / (1 - probability))) {}

  /// The key of the places that differ only in their column: query `i` of a head in a row of the batch.
  static std::uint32_t key_of(std::uint64_t seed, std::int64_t row, std::int64_t head, std::int64_t i) {
    return static_cast<std::uint32_t>(
        random_bits(seed_from_row(seed, row), static_cast<std::uint64_t>(head), static_cast<std::uint64_t>(i)));
  }

  /// The seed for a part of the batch that begins at a row.
  static std::uint64_t seed_from_row(std::uint64_t seed, std::int64_t row) {
    return seed + static_cast<std::uint64_t>(row) * 0xD1342543DE82EF95ULL;
  }

  /// The factor of an element: 0, or 1 / (1 − probability). Key and column are mixed to 32 bits, and the upper 24 are
  /// compared with the probability. There are no branches, so that the compiler vectorises loops over columns.
  float factor(std::uint32_t key, std::uint32_t column) const {
    return mixed(key + column * 0x9E3779B9U) >= threshold_ ? scale_ : 0.0F;
  }

  /// For kernels that draw it themselves: bits below `threshold`, of 24, drop; others scale.
  std::uint32_t threshold() const { return threshold_; }
  float scale() const { return scale_; }

  /// The factors of n columns from `column` on, in a vector.
  template <int n>
  XLM_SIMD_INLINE Vector<float, n> factors(std::uint32_t key, std::uint32_t column) const {
    using Words = Vector<std::uint32_t, n>;
    const Words columns = __builtin_convertvector(lane_numbers<n>(), Words) + column;
    const Words bits = mixed(columns * 0x9E3779B9U + key);
    const Vector<std::int32_t, n> kept =
        __builtin_convertvector(bits, Vector<std::int32_t, n>) >= static_cast<std::int32_t>(threshold_);
    return kept ? Vector<float, n>{} + scale_ : Vector<float, n>{};
  }

 private:
  template <class Word>
  XLM_SIMD_INLINE static Word mixed(Word x) {
    x = (x ^ (x >> 16U)) * 0x7FEB352DU;
    x = (x ^ (x >> 15U)) * 0x846CA68BU;
    x ^= x >> 16U;
    return x >> 8U;
  }

  std::uint32_t threshold_;
  float scale_;
};

/// A seed from libtorch's generator on the CPU, which the trainer seeds for every step, equally for every part of a
/// batch.
std::uint64_t draw_seed();

/// Such a seed for rows of the batch: for the part that this thread computes.
std::uint64_t draw_dropout_seed();

/// Drops elements of x [B, …] with `probability` and scales the others to keep the mean. Differentiable. On the CPU the
/// choice depends only on `seed` and place, and the backward pass repeats it instead of saving it. On other devices it
/// is libtorch's own dropout.
torch::Tensor place_dropout(const torch::Tensor& x, double probability, std::uint64_t seed);

}  // namespace xlm
