// Row loops of banded attention. Whether there is a mask and dropout is known at compile time and every sum is declared
// a reduction: only then does the compiler make vectors of the loops.
#include "core/kernels/banded_rows.h"

#include <algorithm>
#include <cmath>

#include "core/kernels/exponential.h"
#include "core/kernels/simd_dispatch.h"

namespace xlm {
namespace {

constexpr double kEpsilon = 1e-8;  // of the renormalisation (docs/models.md#the-soft-mask)

/// The soft mask's line before it is clamped to [0, 1], at a column of the band.
template <class T>
XLM_SIMD_INLINE T mask_line(const RowSettings<T>& s, std::int64_t column) {
  return (static_cast<T>(static_cast<std::int32_t>(column + 1 - s.band)) + s.span) / s.ramp + 1;
}

/// Columns before this one have a mask of 0 and a derivative of 0.
template <class T>
std::int64_t first_unmasked(const RowSettings<T>& s) {
  const auto reach = static_cast<std::int64_t>(std::floor(static_cast<double>(s.span + s.ramp))) + 2;
  return std::clamp<std::int64_t>(s.band - reach, 0, s.band);
}

template <class T>
XLM_SIMD_INLINE T drop_factor(const RowSettings<T>& s, std::int64_t column) {
  return static_cast<T>(s.dropout.factor(s.key, static_cast<std::uint32_t>(column)));
}

template <bool masked, bool dropped, class T>
XLM_SIMD_INLINE RowSums<T> forward_loops(T* row, const RowSettings<T>& settings) {
  const RowSettings<T> s = settings;  // a copy, so that writing to the row cannot change it
  T maximum = row[0];
#pragma omp simd reduction(max : maximum)
  for (std::int64_t j = 0; j < s.band; ++j) maximum = std::max(maximum, row[j]);
  T sum = 0;
  T kept = 0;
  const std::int64_t first = masked ? first_unmasked(s) : 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < first; ++j) {
    sum += exponential(row[j] - maximum);
    row[j] = 0;
  }
#pragma omp simd reduction(+ : sum, kept)
  for (std::int64_t j = first; j < s.band; ++j) {
    const T e = exponential(row[j] - maximum);
    const T m = masked ? std::min(std::max(mask_line(s, j), T{0}), T{1}) : T{1};
    sum += e;
    kept += e * m;
    row[j] = e * m;
  }
  const T kept_share = masked ? kept / sum + static_cast<T>(kEpsilon) : T{1};
  const T scale = 1 / (sum * kept_share);
#pragma omp simd
  for (std::int64_t j = first; j < s.band; ++j) row[j] *= dropped ? scale * drop_factor(s, j) : scale;
  return {maximum + std::log(sum), kept_share};
}

template <bool masked, bool dropped, class T>
XLM_SIMD_INLINE T backward_loops(T* row, T* upstream, const RowSettings<T>& settings, const RowSums<T>& sums, T dot) {
  const RowSettings<T> s = settings;
  const T log_sum = sums.log_sum;
  const T inverse = masked ? 1 / sums.kept : T{1};
  // Σ softmax · d softmax: the mask's renormalisation leaves only what its ε does.
  const T rest = masked ? dot * static_cast<T>(kEpsilon) * inverse : T{0};
  const std::int64_t first = masked ? first_unmasked(s) : 0;
  if (masked) {
#pragma omp simd
    for (std::int64_t j = 0; j < first; ++j) {  // mask 0: no weight, but the softmax still counts the score
      upstream[j] = -exponential(row[j] - log_sum) * rest;
      row[j] = 0;
    }
  }
  T span_gradient = 0;
#pragma omp simd reduction(+ : span_gradient)
  for (std::int64_t j = first; j < s.band; ++j) {
    const T p = exponential(row[j] - log_sum);
    const T factor = dropped ? drop_factor(s, j) : T{1};
    const T gradient = (upstream[j] * factor - dot) * inverse;  // of softmax · mask
    T m = 1;
    if (masked) {
      const T line = mask_line(s, j);
      m = std::min(std::max(line, T{0}), T{1});
      // The clamp's corners belong to its slope, as in torch.
      span_gradient += m == line ? p * gradient : T{0};
    }
    upstream[j] = p * (m * gradient - rest);
    row[j] = p * m * inverse * factor;
  }
  return span_gradient / s.ramp;
}

template <class T>
XLM_SIMD_INLINE RowSums<T> any_forward_row(T* row, const RowSettings<T>& s) {
  if (s.masked) return s.dropped ? forward_loops<true, true>(row, s) : forward_loops<true, false>(row, s);
  return s.dropped ? forward_loops<false, true>(row, s) : forward_loops<false, false>(row, s);
}

template <class T>
XLM_SIMD_INLINE T any_backward_row(T* row, T* upstream, const RowSettings<T>& s, const RowSums<T>& sums, T dot) {
  if (s.masked) {
    return s.dropped ? backward_loops<true, true>(row, upstream, s, sums, dot)
                     : backward_loops<true, false>(row, upstream, s, sums, dot);
  }
  return s.dropped ? backward_loops<false, true>(row, upstream, s, sums, dot)
                   : backward_loops<false, false>(row, upstream, s, sums, dot);
}

}  // namespace

XLM_SIMD_DISPATCH RowSums<float> forward_row(float* row, const RowSettings<float>& s) {
  return any_forward_row(row, s);
}
RowSums<double> forward_row(double* row, const RowSettings<double>& s) { return any_forward_row(row, s); }

XLM_SIMD_DISPATCH float backward_row(float* row, float* upstream, const RowSettings<float>& s,
                                     const RowSums<float>& sums, float dot) {
  return any_backward_row(row, upstream, s, sums, dot);
}
double backward_row(double* row, double* upstream, const RowSettings<double>& s, const RowSums<double>& sums,
                    double dot) {
  return any_backward_row(row, upstream, s, sums, dot);
}

}  // namespace xlm
