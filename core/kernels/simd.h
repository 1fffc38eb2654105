// Vectors in registers, for loops that must not depend on the compiler's vectorisation: GCC 12, below AVX-512, does not
// vectorise loops with sums in functions that are compiled for several instruction sets.
//
// T a number, n the lanes of a vector.
#pragma once

#include <c10/util/BFloat16.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/kernels/simd_dispatch.h"

// Vectors are passed only to functions that are inlined into their callers.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace xlm {

template <class T, int n>
struct VectorOf {
  using Type __attribute__((vector_size(n * sizeof(T)))) = T;
};
template <class T, int n>
using Vector = typename VectorOf<T, n>::Type;

template <int n, class T>
XLM_SIMD_INLINE Vector<T, n> load(const T* from) {
  Vector<T, n> to;
  std::memcpy(&to, from, sizeof to);
  return to;
}

/// The first `count` numbers, at most n of them, and `rest` in the other lanes.
template <int n, class T>
XLM_SIMD_INLINE Vector<T, n> load(const T* from, std::int64_t count, T rest) {
  if (count >= n) return load<n>(from);
  Vector<T, n> to;
  for (int i = 0; i < n; ++i) to[i] = i < count ? from[i] : rest;
  return to;
}

/// The first `count` numbers, at most n of them, in float32, and 0 in the other lanes.
template <int n>
XLM_SIMD_INLINE Vector<float, n> load_numbers(const float* from, std::int64_t count) {
  return load<n>(from, count, 0.0F);
}
template <int n>
XLM_SIMD_INLINE Vector<float, n> load_numbers(const c10::BFloat16* from, std::int64_t count) {
  const Vector<std::uint16_t, n> bits = load<n>(reinterpret_cast<const std::uint16_t*>(from), count, std::uint16_t{0});
  const Vector<std::uint32_t, n> wide = __builtin_convertvector(bits, Vector<std::uint32_t, n>) << 16;
  Vector<float, n> numbers;
  std::memcpy(&numbers, &wide, sizeof wide);
  return numbers;
}

template <int n, class T>
XLM_SIMD_INLINE void store(const Vector<T, n>& from, T* to) {
  std::memcpy(to, &from, sizeof from);
}

/// The first `count` lanes, at most n of them.
template <int n, class T>
XLM_SIMD_INLINE void store(const Vector<T, n>& from, std::int64_t count, T* to) {
  if (count >= n) return store<n>(from, to);
  for (int i = 0; i < n; ++i) {
    if (i < count) to[i] = from[i];
  }
}

/// 0, 1, 2, …
template <int n>
XLM_SIMD_INLINE Vector<std::int32_t, n> lane_numbers() {
  Vector<std::int32_t, n> numbers;
  for (int i = 0; i < n; ++i) numbers[i] = i;
  return numbers;
}

/// The type of a vector's lanes.
template <class V>
using LaneOf = std::remove_cvref_t<decltype(std::declval<V>()[0])>;

/// Half of the lanes, from lane `first` on.
template <int first, class V, std::size_t... lanes>
XLM_SIMD_INLINE auto half_of_lanes(const V& x, std::index_sequence<lanes...>) {
  return __builtin_shufflevector(x, x, (first + static_cast<int>(lanes))...);
}

/// combine(x, y) of the two halves, and so on down to one lane.
template <class V, class F>
XLM_SIMD_INLINE LaneOf<V> combined_lanes(const V& x, const F& combine) {
  constexpr std::size_t half = sizeof(V) / sizeof(LaneOf<V>) / 2;
  if constexpr (half == 1) {
    return combine(x[0], x[1]);
  } else {
    constexpr auto lanes = std::make_index_sequence<half>();
    return combined_lanes(combine(half_of_lanes<0>(x, lanes), half_of_lanes<half>(x, lanes)), combine);
  }
}

template <class V>
XLM_SIMD_INLINE LaneOf<V> sum_of_lanes(const V& x) {
  return combined_lanes(x, [](const auto& a, const auto& b) XLM_SIMD_LAMBDA { return a + b; });
}

template <class V>
XLM_SIMD_INLINE LaneOf<V> largest_lane(const V& x) {
  return combined_lanes(x, [](const auto& a, const auto& b) XLM_SIMD_LAMBDA { return a > b ? a : b; });
}

/// e^x for x ≤ 88 to 2 units in the last place, without branches: 2^m by the exponent's bits, the rest by a polynomial.
template <int n>
XLM_SIMD_INLINE Vector<float, n> exponential(const Vector<float, n>& given) {
  constexpr float kMagic = 12582912.0F;  // 1.5 · 2^23: adding it rounds to a whole number
  const Vector<float, n> x = given < -87.0F ? Vector<float, n>{} - 87.0F : given;  // keeps NaN
  const Vector<float, n> shifted = x * 1.44269504F + kMagic;
  const Vector<float, n> m = shifted - kMagic;
  const Vector<float, n> r = (x - m * 0.693359375F) + m * 2.12194440e-4F;
  Vector<float, n> p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  Vector<std::int32_t, n> bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits - (0x4B400000 - 127)) << 23;
  Vector<float, n> power;
  std::memcpy(&power, &bits, sizeof power);
  return p * power;
}

template <int n>
XLM_SIMD_INLINE Vector<double, n> exponential(const Vector<double, n>& x) {
  Vector<double, n> powers;
  for (int i = 0; i < n; ++i) powers[i] = std::exp(x[i]);
  return powers;
}

}  // namespace xlm
