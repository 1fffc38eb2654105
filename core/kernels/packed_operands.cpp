// Copies of matrices in bfloat16.
#include "core/kernels/packed_operands.h"

#include <ATen/autocast_mode.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <array>
#include <cstring>

#include "core/kernels/simd.h"

namespace xlm {
namespace {

XLM_SIMD_INLINE std::uint16_t rounded(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint32_t nearest = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
  return static_cast<std::uint16_t>(x != x ? 0x7FC0U : nearest);
}

/// oneDNN may be off, or limited by ONEDNN_MAX_CPU_ISA.
[[maybe_unused]] bool libtorch_multiplies() {
  const std::array<Bfloat16, 4> ones{1, 1, 1, 1};
  std::array<float, 4> sums{};
  try {
    product(2, 2, 2, ones.data(), 2, ones.data(), 2, sums.data(), 2, false);
    end_products<Bfloat16>();
  } catch (const c10::Error&) {
    return false;
  }
  return sums == std::array<float, 4>{2, 2, 2, 2};
}

template <int>
XLM_SIMD_INLINE void round_numbers_of(const float* in, std::int64_t count, Bfloat16* out) {
  auto* bits = reinterpret_cast<std::uint16_t*>(out);
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) bits[i] = rounded(in[i]);
}

template <int n>
XLM_SIMD_INLINE void to_float_of(const Bfloat16* in, std::int64_t count, float* out) {
  const auto* bits = reinterpret_cast<const std::uint16_t*>(in);
  for (std::int64_t i = 0; i < count; i += n) store<n>(load_bfloat16<n>(bits + i, count - i), count - i, out + i);
}

template <int>
XLM_SIMD_INLINE void round_pairs_of(const float* in, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                                    Bfloat16* out) {
  for (std::int64_t i = 0; i < rows; i += 2) {
    const float* first = in + i * stride;
    const float* second = first + stride;
    auto* pairs = reinterpret_cast<std::uint32_t*>(out + i * columns);
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) {
      pairs[j] = rounded(first[j]) | static_cast<std::uint32_t>(rounded(second[j])) << 16U;
    }
  }
}

template <int>
XLM_SIMD_INLINE void pair_rows_of(const Bfloat16* in, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                                  Bfloat16* out) {
  for (std::int64_t i = 0; i < rows; i += 2) {
    const auto* first = reinterpret_cast<const std::uint16_t*>(in + i * stride);
    const auto* second = reinterpret_cast<const std::uint16_t*>(in + (i + 1) * stride);
    auto* pairs = reinterpret_cast<std::uint32_t*>(out + i * columns);
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j) {
      pairs[j] = first[j] | static_cast<std::uint32_t>(second[j]) << 16U;
    }
  }
}

XLM_SIMD_VERSIONS(void, round_numbers, (const float* in, std::int64_t count, Bfloat16* out), (in, count, out))
XLM_SIMD_VERSIONS(void, round_pairs,
                  (const float* in, std::int64_t stride, std::int64_t rows, std::int64_t columns, Bfloat16* out),
                  (in, stride, rows, columns, out))

#if defined(__x86_64__)
#define XLM_WITH_BFLOAT16 __attribute__((target("arch=x86-64-v4,avx512bf16")))

bool rounds_by_instruction() {
  static const bool has = simd_lanes == 16 && __builtin_cpu_supports("avx512bf16") != 0;
  return has;
}

/// The lanes before `count`, at most 16.
XLM_SIMD_INLINE std::uint16_t lanes_before(std::int64_t count) {
  return static_cast<std::uint16_t>(count >= 16 ? 0xFFFFU : (1U << static_cast<unsigned>(count)) - 1U);
}

XLM_WITH_BFLOAT16 void round_by_instruction(const float* in, std::int64_t count, Bfloat16* out) {
  for (std::int64_t i = 0; i < count; i += 16) {
    const std::uint16_t lanes = lanes_before(count - i);
    const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(lanes, in + i));
    __m256i bits;
    std::memcpy(&bits, &rounded, sizeof bits);
    _mm256_mask_storeu_epi16(out + i, lanes, bits);
  }
}

XLM_WITH_BFLOAT16 void round_pairs_by_instruction(const float* in, std::int64_t stride, std::int64_t rows,
                                                  std::int64_t columns, Bfloat16* out) {
  std::array<std::uint16_t, 32> places;  // 0, 16, 1, 17, …
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::uint16_t>(i / 2 + i % 2 * 16);
  const __m512i order = _mm512_loadu_si512(places.data());
  for (std::int64_t i = 0; i < rows; i += 2) {
    const float* first = in + i * stride;
    auto* pairs = reinterpret_cast<std::uint32_t*>(out + i * columns);
    for (std::int64_t j = 0; j < columns; j += 16) {
      const std::uint16_t lanes = lanes_before(columns - j);
      const __m512bh rounded = _mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(lanes, first + stride + j),
                                                   _mm512_maskz_loadu_ps(lanes, first + j));
      __m512i bits;
      std::memcpy(&bits, &rounded, sizeof bits);
      _mm512_mask_storeu_epi32(pairs + j, lanes, _mm512_permutexvar_epi16(order, bits));
    }
  }
}
#endif

}  // namespace

void to_bfloat16(const float* in, std::int64_t count, Bfloat16* out) {
#if defined(__x86_64__)
  if (rounds_by_instruction()) return round_by_instruction(in, count, out);
#endif
  round_numbers(in, count, out);
}

void pair_rows(const float* in, std::int64_t stride, std::int64_t rows, std::int64_t columns, Bfloat16* out) {
#if defined(__x86_64__)
  if (rounds_by_instruction()) return round_pairs_by_instruction(in, stride, rows, columns, out);
#endif
  round_pairs(in, stride, rows, columns, out);
}

XLM_SIMD_VERSIONS(void, to_float, (const Bfloat16* in, std::int64_t count, float* out), (in, count, out))
XLM_SIMD_VERSIONS(void, pair_rows,
                  (const Bfloat16* in, std::int64_t stride, std::int64_t rows, std::int64_t columns, Bfloat16* out),
                  (in, stride, rows, columns, out))

bool autocast_lacks_products(const torch::Tensor& x) {
  return x.device().is_cpu() && at::autocast::is_autocast_enabled(torch::kCPU) &&
         at::autocast::get_autocast_dtype(torch::kCPU) == torch::kBFloat16 && !has_bfloat16_products();
}

bool has_bfloat16_products() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0 && libtorch_multiplies();
  return has;
#else
  return false;  // other processors pack their operands differently
#endif
}

}  // namespace xlm
