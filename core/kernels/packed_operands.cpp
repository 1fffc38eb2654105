// Copies of matrices in bfloat16.
#include "core/kernels/packed_operands.h"

#include <ATen/autocast_mode.h>

#include <array>
#include <cstring>

#include "core/kernels/bfloat16_lanes.h"
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
  for (std::int64_t i = 0; i < count; i += n) store<n>(load_numbers<n>(in + i, count - i), count - i, out + i);
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
XLM_WITH_BFLOAT16 void round_by_instruction(const float* in, std::int64_t count, Bfloat16* out) {
  for (std::int64_t i = 0; i < count; i += 16) store_rounded(load_numbers<16>(in + i, count - i), count - i, out + i);
}

XLM_WITH_BFLOAT16 void round_pairs_by_instruction(const float* in, std::int64_t stride, std::int64_t rows,
                                                  std::int64_t columns, Bfloat16* out) {
  for (std::int64_t i = 0; i < rows; i += 2) {
    const float* first = in + i * stride;
    for (std::int64_t j = 0; j < columns; j += 16) {
      store_rounded_pairs(load_numbers<16>(first + j, columns - j), load_numbers<16>(first + stride + j, columns - j),
                          columns - j, out + i * columns + 2 * j);
    }
  }
}
#endif

}  // namespace

bool rounds_by_instruction() {
#if defined(__x86_64__)
  static const bool has = simd_lanes == 16 && __builtin_cpu_supports("avx512bf16") != 0;
  return has;
#else
  return false;
#endif
}

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
