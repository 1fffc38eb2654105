// Rows of causal and windowed attention. In bfloat16 the numbers are rounded on the way to memory, if the processor has
// an instruction for it.
#include "core/kernels/window_rows.h"

#include <cmath>

#include "core/kernels/bfloat16_lanes.h"

namespace xlm {
namespace {

constexpr std::int64_t kWholeVector = 16;  // numbers

/// Part of a row in whole vectors: what a query sees, and keys around it that it does not.
struct SeenVectors {
  explicit SeenVectors(const SeenKeys& seen)
      : begin(seen.begin - seen.begin % kWholeVector),
        end(std::min(seen.count, (seen.end + kWholeVector - 1) / kWholeVector * kWholeVector)) {}
  std::int64_t begin, end;
};

/// Gives the keys around a score whose exponential adds nothing to a sum with the greatest.
template <class T>
void hide_around(T* scores, const SeenKeys& seen, const SeenVectors& part) {
  std::fill(scores + part.begin, scores + seen.begin, std::numeric_limits<T>::lowest());
  std::fill(scores + seen.end, scores + part.end, std::numeric_limits<T>::lowest());
}

template <class T>
void clear_unseen(T* row, const SeenKeys& seen) {
  std::fill(row, row + seen.begin, T{0});
  std::fill(row + seen.end, row + seen.count, T{0});
}

template <class T>
Sum<T> softmax_as_sums(Sum<T>* scores, const SeenKeys& seen, RunningSoftmax<Sum<T>>& softmax, T* weights) {
  Sum<T> factor = 1;
  if (seen.begin < seen.end) {
    const SeenVectors part(seen);
    hide_around(scores, seen, part);
    factor = add_to_softmax(scores + part.begin, part.end - part.begin, softmax);
  }
  clear_unseen(scores, seen);
  store_left(scores, seen.count, weights);
  return factor;
}

template <class T>
void gradients_as_sums(Sum<T>* scores, Sum<T>* d_weights, const WindowRows<T>& rows, T* weights, T* d_scores,
                       T* d_scores_left) {
  const std::int64_t count = rows.seen.front().count;
  for (std::int64_t i = 0; i < kPair<T>; ++i) {
    const SeenKeys& seen = rows.seen[static_cast<std::size_t>(i)];
    Sum<T>* row = scores + i * count;
    Sum<T>* d_row = d_weights + i * count;
    if (seen.begin < seen.end) {
      const SeenVectors part(seen);
      hide_around(row, seen, part);
      backward_row(row + part.begin, d_row + part.begin, {.band = part.end - part.begin}, {.log_sum = rows.log_sums[i]},
                   rows.dots[i]);
    }
    clear_unseen(row, seen);
    clear_unseen(d_row, seen);
  }
  store_right(scores, count, weights);
  store_right(d_weights, count, d_scores);
  store_left(d_weights, kPair<T> * count, d_scores_left);
}

#if defined(__x86_64__)
/// Those of 16 keys from `key` on.
XLM_SIMD_INLINE std::uint16_t seen_lanes(const SeenKeys& seen, std::int64_t key) {
  return static_cast<std::uint16_t>(lanes_before(seen.end - key) & ~lanes_before(seen.begin - key));
}

XLM_WITH_BFLOAT16 float softmax_in_lanes(const float* scores, const SeenKeys& seen, RunningSoftmax<float>& softmax,
                                         Bfloat16* weights) {
  const SeenVectors part(seen);
  Lanes largest = Lanes{} + softmax.maximum;
  for (std::int64_t j = part.begin; j < part.end; j += 16) {
    const std::uint16_t lanes = seen_lanes(seen, j);
    largest = _mm512_mask_max_ps(largest, lanes, _mm512_maskz_loadu_ps(lanes, scores + j), largest);
  }
  const float maximum = largest_lane(largest);
  Lanes sums{};
  for (std::int64_t j = 0; j < seen.count; j += 16) {
    const std::uint16_t lanes = seen_lanes(seen, j);
    Lanes e{};
    if (lanes != 0) {
      e = _mm512_maskz_mov_ps(lanes, exponential<16>(Lanes(_mm512_maskz_loadu_ps(lanes, scores + j)) - maximum));
      sums += e;
    }
    store_rounded(e, seen.count - j, weights + j);
  }
  const float factor = maximum == softmax.maximum ? 1.0F : std::exp(softmax.maximum - maximum);
  softmax = {maximum, softmax.sum * factor + sum_of_lanes(sums)};
  return factor;
}

struct RowLanes {
  Lanes weights, d_scores;
};

XLM_INLINE_WITH_BFLOAT16 RowLanes gradient_lanes(const float* scores, const float* d_weights, std::uint16_t lanes,
                                                 float log_sum, float dot) {
  if (lanes == 0) return {Lanes{}, Lanes{}};
  const Lanes weights =
      _mm512_maskz_mov_ps(lanes, exponential<16>(Lanes(_mm512_maskz_loadu_ps(lanes, scores)) - log_sum));
  return {weights, weights * (Lanes(_mm512_maskz_loadu_ps(lanes, d_weights)) - dot)};
}

XLM_WITH_BFLOAT16 void gradients_in_lanes(const float* scores, const float* d_weights, const WindowRows<Bfloat16>& rows,
                                          Bfloat16* weights, Bfloat16* d_scores, Bfloat16* d_scores_left) {
  const auto& [first, second] = rows.seen;
  const std::int64_t count = first.count;
  for (std::int64_t j = 0; j < count; j += 16) {
    const RowLanes a = gradient_lanes(scores + j, d_weights + j, seen_lanes(first, j), rows.log_sums[0], rows.dots[0]);
    const RowLanes b = gradient_lanes(scores + count + j, d_weights + count + j, seen_lanes(second, j),
                                      rows.log_sums[1], rows.dots[1]);
    store_rounded_pairs(a.weights, b.weights, count - j, weights + 2 * j);
    store_rounded_pairs(a.d_scores, b.d_scores, count - j, d_scores + 2 * j);
    store_rounded(a.d_scores, count - j, d_scores_left + j);
    store_rounded(b.d_scores, count - j, d_scores_left + count + j);
  }
}
#endif

}  // namespace

template <class T>
Sum<T> window_softmax(Sum<T>* scores, const SeenKeys& seen, RunningSoftmax<Sum<T>>& softmax, T* weights) {
#if defined(__x86_64__)
  if constexpr (kPair<T> == 2) {
    if (rounds_by_instruction()) return softmax_in_lanes(scores, seen, softmax, weights);
  }
#endif
  return softmax_as_sums<T>(scores, seen, softmax, weights);
}

template <class T>
void window_gradients(Sum<T>* scores, Sum<T>* d_weights, const WindowRows<T>& rows, T* weights, T* d_scores,
                      T* d_scores_left) {
#if defined(__x86_64__)
  if constexpr (kPair<T> == 2) {
    if (rounds_by_instruction()) return gradients_in_lanes(scores, d_weights, rows, weights, d_scores, d_scores_left);
  }
#endif
  gradients_as_sums<T>(scores, d_weights, rows, weights, d_scores, d_scores_left);
}

template float window_softmax(float*, const SeenKeys&, RunningSoftmax<float>&, float*);
template double window_softmax(double*, const SeenKeys&, RunningSoftmax<double>&, double*);
template float window_softmax(float*, const SeenKeys&, RunningSoftmax<float>&, Bfloat16*);
template void window_gradients(float*, float*, const WindowRows<float>&, float*, float*, float*);
template void window_gradients(double*, double*, const WindowRows<double>&, double*, double*, double*);
template void window_gradients(float*, float*, const WindowRows<Bfloat16>&, Bfloat16*, Bfloat16*, Bfloat16*);

}  // namespace xlm
