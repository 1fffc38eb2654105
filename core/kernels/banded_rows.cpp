// Row loops of banded attention, one vector at a time. Mask and dropout are known at compile time.
#include "core/kernels/banded_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/simd.h"

namespace xlm {
namespace {

constexpr double kEpsilon = 1e-8;  // of the renormalisation (experiments/recipes/adaptive-span/README.md#the-soft-mask)

/// The soft mask's line before clamping to [0, 1], from a column of the band on.
template <int n, class T>
XLM_SIMD_INLINE Vector<T, n> mask_line(const RowSettings<T>& s, std::int64_t column) {
  const Vector<std::int32_t, n> place = lane_numbers<n>() + static_cast<std::int32_t>(column + 1 - s.band);
  return (__builtin_convertvector(place, Vector<T, n>) + s.span) / s.ramp + T{1};
}

template <int n, class T>
XLM_SIMD_INLINE Vector<T, n> clamped(const Vector<T, n>& line) {
  const Vector<T, n> zero{};
  const Vector<T, n> one = zero + T{1};
  const Vector<T, n> above = line < zero ? zero : line;  // keeps NaN, as does the next line
  return above > one ? one : above;
}

/// Columns before this one have a mask of 0 and a derivative of 0.
template <class T>
std::int64_t first_unmasked(const RowSettings<T>& s) {
  const auto reach = static_cast<std::int64_t>(std::floor(static_cast<double>(s.span + s.ramp))) + 2;
  return std::clamp<std::int64_t>(s.band - reach, 0, s.band);
}

template <int n, class T>
XLM_SIMD_INLINE Vector<T, n> drop_factors(const RowSettings<T>& s, std::int64_t column) {
  return __builtin_convertvector(s.dropout.template factors<n>(s.key, static_cast<std::uint32_t>(column)),
                                 Vector<T, n>);
}

template <int n, bool masked, bool dropped, class T>
XLM_SIMD_INLINE RowSums<T> forward_loops(T* row, const RowSettings<T>& settings) {
  const RowSettings<T> s = settings;  // a copy, so that writing to the row cannot change it
  constexpr T kLeast = std::numeric_limits<T>::lowest();
  Vector<T, n> largest = Vector<T, n>{} + kLeast;
  for (std::int64_t j = 0; j < s.band; j += n) {
    const Vector<T, n> x = load<n>(row + j, s.band - j, kLeast);
    largest = x > largest ? x : largest;
  }
  const T maximum = largest_lane(largest);
  Vector<T, n> sums{};
  Vector<T, n> kept_sums{};
  const std::int64_t first = masked ? first_unmasked(s) : 0;
  for (std::int64_t j = 0; j < first; j += n) {  // mask 0: no weight, but the softmax still includes the score
    sums += exponential<n>(load<n>(row + j, first - j, kLeast) - maximum);
    store<n>(Vector<T, n>{}, first - j, row + j);
  }
  for (std::int64_t j = first; j < s.band; j += n) {
    const Vector<T, n> e = exponential<n>(load<n>(row + j, s.band - j, kLeast) - maximum);
    sums += e;
    Vector<T, n> weight = e;
    if constexpr (masked) {
      weight *= clamped<n, T>(mask_line<n>(s, j));
      kept_sums += weight;
    }
    store<n>(weight, s.band - j, row + j);
  }
  const T sum = sum_of_lanes(sums);
  const T kept_share = masked ? sum_of_lanes(kept_sums) / sum + static_cast<T>(kEpsilon) : T{1};
  const T scale = 1 / (sum * kept_share);
  for (std::int64_t j = first; j < s.band; j += n) {
    Vector<T, n> weight = load<n>(row + j, s.band - j, T{0}) * scale;
    if constexpr (dropped) weight *= drop_factors<n>(s, j);
    store<n>(weight, s.band - j, row + j);
  }
  return {maximum + std::log(sum), kept_share};
}

template <int n, bool masked, bool dropped, class T>
XLM_SIMD_INLINE T backward_loops(T* row, T* upstream, const RowSettings<T>& settings, const RowSums<T>& sums, T dot) {
  const RowSettings<T> s = settings;
  constexpr T kLeast = std::numeric_limits<T>::lowest();
  const T log_sum = sums.log_sum;
  const T inverse = masked ? 1 / sums.kept : T{1};
  // Σ softmax · d softmax: the mask's renormalisation leaves only the effect of its ε.
  const T rest = masked ? dot * static_cast<T>(kEpsilon) * inverse : T{0};
  const std::int64_t first = masked ? first_unmasked(s) : 0;
  for (std::int64_t j = 0; j < first; j += n) {
    const Vector<T, n> p = exponential<n>(load<n>(row + j, first - j, kLeast) - log_sum);
    store<n>(p * -rest, first - j, upstream + j);
    store<n>(Vector<T, n>{}, first - j, row + j);
  }
  Vector<T, n> span_gradients{};
  for (std::int64_t j = first; j < s.band; j += n) {
    const Vector<T, n> p = exponential<n>(load<n>(row + j, s.band - j, kLeast) - log_sum);
    Vector<T, n> gradient = load<n>(upstream + j, s.band - j, T{0});
    Vector<T, n> weight = p;
    if constexpr (dropped) {
      const Vector<T, n> factors = drop_factors<n>(s, j);
      gradient *= factors;
      weight *= factors;
    }
    gradient = gradient - dot;
    if constexpr (masked) {
      gradient *= inverse;  // of softmax · mask
      const Vector<T, n> line = mask_line<n>(s, j);
      const Vector<T, n> m = clamped<n, T>(line);
      // The clamp's corners belong to its slope, as in torch.
      span_gradients += m == line ? p * gradient : Vector<T, n>{};
      gradient = m * gradient - rest;
      weight *= m * inverse;
    }
    store<n>(p * gradient, s.band - j, upstream + j);
    store<n>(weight, s.band - j, row + j);
  }
  return sum_of_lanes(span_gradients) / s.ramp;
}

template <int n, class T>
XLM_SIMD_INLINE T any_dot_product_of(const T* a, const T* b, std::int64_t count) {
  Vector<T, n> sums{};
  for (std::int64_t j = 0; j < count; j += n) sums += load<n>(a + j, count - j, T{0}) * load<n>(b + j, count - j, T{0});
  return sum_of_lanes(sums);
}

template <int n, class T>
XLM_SIMD_INLINE T add_any_to_softmax_of(T* row, std::int64_t count, RunningSoftmax<T>& softmax) {
  constexpr T kLeast = std::numeric_limits<T>::lowest();
  Vector<T, n> largest = Vector<T, n>{} + softmax.maximum;
  for (std::int64_t j = 0; j < count; j += n) {
    const Vector<T, n> x = load<n>(row + j, count - j, kLeast);
    largest = x > largest ? x : largest;
  }
  const T maximum = largest_lane(largest);
  Vector<T, n> sums{};
  for (std::int64_t j = 0; j < count; j += n) {
    const Vector<T, n> e = exponential<n>(load<n>(row + j, count - j, kLeast) - maximum);
    sums += e;
    store<n>(e, count - j, row + j);
  }
  const T factor = maximum == softmax.maximum ? T{1} : std::exp(softmax.maximum - maximum);
  softmax = {maximum, softmax.sum * factor + sum_of_lanes(sums)};
  return factor;
}

template <int n, class T>
XLM_SIMD_INLINE RowSums<T> forward_any_row_of(T* row, const RowSettings<T>& s) {
  if (s.masked) return s.dropped ? forward_loops<n, true, true>(row, s) : forward_loops<n, true, false>(row, s);
  return s.dropped ? forward_loops<n, false, true>(row, s) : forward_loops<n, false, false>(row, s);
}

template <int n, class T>
XLM_SIMD_INLINE T backward_any_row_of(T* row, T* upstream, const RowSettings<T>& s, const RowSums<T>& sums, T dot) {
  if (s.masked) {
    return s.dropped ? backward_loops<n, true, true>(row, upstream, s, sums, dot)
                     : backward_loops<n, true, false>(row, upstream, s, sums, dot);
  }
  return s.dropped ? backward_loops<n, false, true>(row, upstream, s, sums, dot)
                   : backward_loops<n, false, false>(row, upstream, s, sums, dot);
}

XLM_SIMD_VERSIONS(RowSums<float>, forward_any_row, (float* row, const RowSettings<float>& s), (row, s))
XLM_SIMD_VERSIONS(float, any_dot_product, (const float* a, const float* b, std::int64_t count), (a, b, count))
XLM_SIMD_VERSIONS(float, add_any_to_softmax, (float* row, std::int64_t count, RunningSoftmax<float>& softmax),
                  (row, count, softmax))
XLM_SIMD_VERSIONS(float, backward_any_row,
                  (float* row, float* upstream, const RowSettings<float>& s, const RowSums<float>& sums, float dot),
                  (row, upstream, s, sums, dot))

}  // namespace

RowSums<float> forward_row(float* row, const RowSettings<float>& s) { return forward_any_row(row, s); }
RowSums<double> forward_row(double* row, const RowSettings<double>& s) { return forward_any_row_of<2>(row, s); }

float dot_product(const float* a, const float* b, std::int64_t count) { return any_dot_product(a, b, count); }
double dot_product(const double* a, const double* b, std::int64_t count) { return any_dot_product_of<2>(a, b, count); }

float add_to_softmax(float* row, std::int64_t count, RunningSoftmax<float>& softmax) {
  return add_any_to_softmax(row, count, softmax);
}
double add_to_softmax(double* row, std::int64_t count, RunningSoftmax<double>& softmax) {
  return add_any_to_softmax_of<2>(row, count, softmax);
}

float backward_row(float* row, float* upstream, const RowSettings<float>& s, const RowSums<float>& sums, float dot) {
  return backward_any_row(row, upstream, s, sums, dot);
}
double backward_row(double* row, double* upstream, const RowSettings<double>& s, const RowSums<double>& sums,
                    double dot) {
  return backward_any_row_of<2>(row, upstream, s, sums, dot);
}

}  // namespace xlm
