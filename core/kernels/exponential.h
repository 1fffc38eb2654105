// The exponential of loops that the compiler makes vectors of.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/kernels/simd_dispatch.h"

namespace xlm {

/// e^x for x ≤ 0 to 2 units in the last place, without branches: 2^n by the exponent's bits, the rest by a polynomial.
XLM_SIMD_INLINE float exponential(float x) {
  constexpr float kMagic = 12582912.0F;  // 1.5 · 2^23: adding it rounds to a whole number
  x = std::max(x, -87.0F);
  const float shifted = x * 1.44269504F + kMagic;
  const float n = shifted - kMagic;
  float r = x - n * 0.693359375F;
  r = r + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  std::int32_t bits = 0;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits - 0x4B400000 + 127) << 23;
  float power = 0;
  std::memcpy(&power, &bits, sizeof(power));
  return p * power;
}
XLM_SIMD_INLINE double exponential(double x) { return std::exp(x); }

}  // namespace xlm
