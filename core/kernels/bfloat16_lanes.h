// Sixteen lanes rounded to bfloat16 by the processor's instruction. Include in source files of kernels only.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>

#include <c10/util/BFloat16.h>

#include <cstdint>
#include <cstring>

#include "core/kernels/simd.h"

// A function that is called only if rounds_by_instruction().
#define XLM_WITH_BFLOAT16 __attribute__((target("arch=x86-64-v4,avx512bf16")))
#define XLM_INLINE_WITH_BFLOAT16 XLM_WITH_BFLOAT16 XLM_SIMD_INLINE

namespace xlm {

using Lanes = Vector<float, 16>;

/// The lanes before `count`, none to all 16.
XLM_SIMD_INLINE std::uint16_t lanes_before(std::int64_t count) {
  if (count >= 16) return 0xFFFFU;
  return count <= 0 ? std::uint16_t{0} : static_cast<std::uint16_t>((1U << static_cast<unsigned>(count)) - 1U);
}

/// The first `count` lanes, at most 16 of them. Masked stores of 16 bits are slow: whole vectors need none.
XLM_INLINE_WITH_BFLOAT16 void store_rounded(const Lanes& x, std::int64_t count, c10::BFloat16* to) {
  const __m256bh rounded = _mm512_cvtneps_pbh(x);
  __m256i bits;
  std::memcpy(&bits, &rounded, sizeof bits);
  if (count >= 16) {
    std::memcpy(to, &bits, sizeof bits);
  } else {
    _mm256_mask_storeu_epi16(to, lanes_before(count), bits);
  }
}

/// first[0], second[0], first[1], … of the first `count` lanes, at most 16 of each.
XLM_INLINE_WITH_BFLOAT16 void store_rounded_pairs(const Lanes& first, const Lanes& second, std::int64_t count,
                                                  c10::BFloat16* to) {
  using Places = Vector<std::uint16_t, 32>;
  constexpr Places order{0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                         8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  const __m512bh rounded = _mm512_cvtne2ps_pbh(second, first);
  __m512i bits;
  std::memcpy(&bits, &rounded, sizeof bits);
  __m512i places;
  std::memcpy(&places, &order, sizeof places);
  _mm512_mask_storeu_epi32(to, lanes_before(count), _mm512_permutexvar_epi16(places, bits));
}

}  // namespace xlm
#endif
