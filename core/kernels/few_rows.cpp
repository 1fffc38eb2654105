// libtorch leaves such a product to MKL. Its product of a matrix and a vector uses one thread, and slow loops on
// processors other than Intel's.
#include "core/kernels/few_rows.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>

#include "core/kernels/simd.h"

namespace xlm {
namespace {

using torch::Tensor;

/// The smallest number of weights in a thread's share that is worth waking the thread.
constexpr std::int64_t kShare = 1 << 14;

/// Shares consist of whole blocks of columns, so that every column uses the same instructions in any thread: a multiple
/// of all vectors and of kTogether.
constexpr std::int64_t kColumnsAtOnce = 64;

/// Rows of the weight that are read together; they stay in the first-level cache for all rows of x.
constexpr std::int64_t kTogether = 4;

struct Sizes {
  std::int64_t m, in, out;
};

/// x [in] times each of `count` rows of the weight, added to y [count].
template <int n, std::int64_t count>
XLM_SIMD_INLINE void dot_products(std::int64_t in, const float* x, const float* weight, float* y) {
  std::array<Vector<float, n>, count> sums{};
  std::int64_t k = 0;
  for (; k + n <= in; k += n) {
    const Vector<float, n> part = load<n>(x + k);
    for (std::int64_t j = 0; j < count; ++j) sums[j] += part * load<n>(weight + j * in + k);
  }
  for (std::int64_t j = 0; j < count; ++j) {
    float sum = sum_of_lanes(sums[j]);
    for (std::int64_t rest = k; rest < in; ++rest) sum += x[rest] * weight[j * in + rest];
    y[j] += sum;
  }
}

/// Columns begin … end of y [m, out] += x·Wᵀ.
template <int n>
XLM_SIMD_INLINE void add_linear_of(const Sizes& sizes, std::int64_t begin, std::int64_t end, const float* x,
                                   const float* weight, float* y) {
  const auto [m, in, out] = sizes;
  std::int64_t j = begin;
  for (; j + kTogether <= end; j += kTogether) {
    for (std::int64_t i = 0; i < m; ++i) {
      dot_products<n, kTogether>(in, x + i * in, weight + j * in, y + i * out + j);
    }
  }
  for (; j < end; ++j) {
    for (std::int64_t i = 0; i < m; ++i) dot_products<n, 1>(in, x + i * in, weight + j * in, y + i * out + j);
  }
}

/// y [columns] += Σ x_k W_k, over `count` rows of the weight.
template <int n, std::int64_t count>
XLM_SIMD_INLINE void add_rows(std::int64_t columns, std::int64_t out, const float* x, const float* weight, float* y) {
  std::int64_t j = 0;
  for (; j + n <= columns; j += n) {
    Vector<float, n> sum = load<n>(y + j);
    for (std::int64_t k = 0; k < count; ++k) sum += x[k] * load<n>(weight + k * out + j);
    store<n>(sum, y + j);
  }
  for (; j < columns; ++j) {
    for (std::int64_t k = 0; k < count; ++k) y[j] += x[k] * weight[k * out + j];
  }
}

/// Columns begin … end of y [m, out] += x·W.
template <int n>
XLM_SIMD_INLINE void add_affine_of(const Sizes& sizes, std::int64_t begin, std::int64_t end, const float* x,
                                   const float* weight, float* y) {
  const auto [m, in, out] = sizes;
  const std::int64_t columns = end - begin;
  std::int64_t k = 0;
  for (; k + kTogether <= in; k += kTogether) {
    for (std::int64_t i = 0; i < m; ++i) {
      add_rows<n, kTogether>(columns, out, x + i * in + k, weight + k * out + begin, y + i * out + begin);
    }
  }
  for (; k < in; ++k) {
    for (std::int64_t i = 0; i < m; ++i) {
      add_rows<n, 1>(columns, out, x + i * in + k, weight + k * out + begin, y + i * out + begin);
    }
  }
}

XLM_SIMD_VERSIONS(void, add_linear,
                  (const Sizes& sizes, std::int64_t begin, std::int64_t end, const float* x, const float* weight,
                   float* y),
                  (sizes, begin, end, x, weight, y))
XLM_SIMD_VERSIONS(void, add_affine,
                  (const Sizes& sizes, std::int64_t begin, std::int64_t end, const float* x, const float* weight,
                   float* y),
                  (sizes, begin, end, x, weight, y))

template <class Add>
Tensor add_in_parallel(const Add& add, const Sizes& sizes, const Tensor& x, const Tensor& weight,
                       const std::optional<Tensor>& bias) {
  Tensor y = bias ? bias->repeat({sizes.m, 1}) : x.new_zeros({sizes.m, sizes.out});
  const auto* from = x.const_data_ptr<float>();
  const auto* by = weight.const_data_ptr<float>();
  auto* to = y.mutable_data_ptr<float>();
  const std::int64_t share = kShare / (kColumnsAtOnce * std::max<std::int64_t>(1, sizes.in));
  at::parallel_for(0, (sizes.out + kColumnsAtOnce - 1) / kColumnsAtOnce, std::max<std::int64_t>(1, share),
                   [&](std::int64_t begin, std::int64_t end) {
                     add(sizes, begin * kColumnsAtOnce, std::min(end * kColumnsAtOnce, sizes.out), from, by, to);
                   });
  return y;
}

}  // namespace

Tensor few_rows_linear(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  return add_in_parallel(add_linear, {x.size(0), x.size(1), weight.size(0)}, x, weight, bias);
}

Tensor few_rows_affine(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  return add_in_parallel(add_affine, {x.size(0), x.size(1), weight.size(1)}, x, weight, bias);
}

}  // namespace xlm
