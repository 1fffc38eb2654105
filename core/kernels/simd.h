// Vectors in registers, for loops that must not depend on the compiler's vectorisation: GCC 12, below AVX-512, does not
// vectorise loops with sums in functions that are compiled for several instruction sets.
//
// T a number, n the lanes of a vector.
#pragma once

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

/// The same of numbers in bfloat16, given by their bits.
template <int n>
XLM_SIMD_INLINE Vector<float, n> load_bfloat16(const std::uint16_t* from, std::int64_t count) {
  const Vector<std::uint16_t, n> bits = load<n>(from, count, std::uint16_t{0});
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

template <class V>
XLM_SIMD_INLINE LaneOf<V> sum_of_lanes(const V& x) {
  LaneOf<V> sum = 0;
  for (std::size_t i = 0; i < sizeof(V) / sizeof(x[0]); ++i) sum += x[i];
  return sum;
}

template <class V>
XLM_SIMD_INLINE LaneOf<V> largest_lane(const V& x) {
  LaneOf<V> largest = x[0];
  for (std::size_t i = 1; i < sizeof(V) / sizeof(x[0]); ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

/// e^x for x ≤ 0 to 2 units in the last place, without branches: 2^m by the exponent's bits, the rest by a polynomial.
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
