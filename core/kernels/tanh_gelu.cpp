// GELU by its approximation with tanh: (1 + tanh u) / 2 is the logistic function of 2u, which takes one exponential.
#include "core/kernels/tanh_gelu.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <array>

#include "core/kernels/kernel_table.h"
#include "core/kernels/packed_operands.h"
#include "core/kernels/simd.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr float kSlope = 1.5957691216F;  // 2 √(2/π)
constexpr float kCubicTerm = 0.044715F;
constexpr std::int64_t kChunk = 1024;       // numbers that are computed at a time
constexpr std::int64_t kThreadChunks = 16;  // fewer are not worth another thread

/// The logistic function of 2 √(2/π) (x + 0.044715 x³).
template <int n>
XLM_SIMD_INLINE Vector<float, n> gelu_share(const Vector<float, n>& x) {
  const Vector<float, n> bound = Vector<float, n>{} + 86.0F;
  const Vector<float, n> u = x * (x * x * -kCubicTerm - 1.0F) * kSlope;  // minus the argument
  const Vector<float, n> near = u > bound ? bound : u;                   // keeps NaN
  const Vector<float, n> share = 1.0F / (exponential<n>(near) + 1.0F);
  return u > bound ? Vector<float, n>{} : share;
}

template <int n, class T>
XLM_SIMD_INLINE void gelu_values_of(const T* x, std::int64_t count, float* out) {
  for (std::int64_t i = 0; i < count; i += n) {
    const Vector<float, n> given = load_numbers<n>(x + i, count - i);
    store<n>(given * gelu_share<n>(given), count - i, out + i);
  }
}

/// out = upstream · d gelu(x) / dx.
template <int n, class T>
XLM_SIMD_INLINE void gelu_gradients_of(const T* x, const T* upstream, std::int64_t count, float* out) {
  for (std::int64_t i = 0; i < count; i += n) {
    const Vector<float, n> bound = Vector<float, n>{} + 30.0F;  // beyond it a share is 0 or 1, and a square finite
    const Vector<float, n> read = load_numbers<n>(x + i, count - i);
    const Vector<float, n> above = read < -bound ? -bound : read;  // keeps NaN, as does the next line
    const Vector<float, n> given = above > bound ? bound : above;
    const Vector<float, n> share = gelu_share<n>(given);
    const Vector<float, n> slope = (given * given * (3 * kCubicTerm) + 1.0F) * kSlope;
    const Vector<float, n> gradient = load_numbers<n>(upstream + i, count - i);
    store<n>(gradient * (share + given * share * (1.0F - share) * slope), count - i, out + i);
  }
}

XLM_SIMD_VERSIONS(void, gelu_values, (const float* x, std::int64_t count, float* out), (x, count, out))
XLM_SIMD_VERSIONS(void, gelu_values, (const Bfloat16* x, std::int64_t count, float* out), (x, count, out))
XLM_SIMD_VERSIONS(void, gelu_gradients, (const float* x, const float* upstream, std::int64_t count, float* out),
                  (x, upstream, count, out))
XLM_SIMD_VERSIONS(void, gelu_gradients, (const Bfloat16* x, const Bfloat16* upstream, std::int64_t count, float* out),
                  (x, upstream, count, out))

/// Calls compute(first, count, out) for chunks of `result`, in all threads; `out` takes floats.
template <class T, class F>
void write_chunks(const Tensor& result, const F& compute) {
  T* to = result.data_ptr<T>();
  const std::int64_t count = result.numel();
  at::parallel_for(0, (count + kChunk - 1) / kChunk, kThreadChunks, [&](std::int64_t begin, std::int64_t end) {
    std::array<float, kChunk> buffer;
    for (std::int64_t first = begin * kChunk; first < std::min(count, end * kChunk); first += kChunk) {
      const std::int64_t length = std::min(kChunk, count - first);
      float* numbers = sums_for(to + first, buffer.data());
      compute(first, length, numbers);
      store_left(numbers, length, to + first);
    }
  });
}

template <class T>
Tensor values_of(const Tensor& x) {
  Tensor out = torch::empty(x.sizes(), x.options().requires_grad(false));
  write_chunks<T>(out, [&](std::int64_t first, std::int64_t count, float* to) {
    gelu_values(x.const_data_ptr<T>() + first, count, to);
  });
  return out;
}

template <class T>
Tensor gradients_of(const Tensor& x, const Tensor& upstream) {
  Tensor out = torch::empty(x.sizes(), x.options().requires_grad(false));
  write_chunks<T>(out, [&](std::int64_t first, std::int64_t count, float* to) {
    gelu_gradients(x.const_data_ptr<T>() + first, upstream.const_data_ptr<T>() + first, count, to);
  });
  return out;
}

class FusedTanhGelu : public torch::autograd::Function<FusedTanhGelu> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x) {
    const Tensor given = x.contiguous();
    context->save_for_backward({given});
    return given.scalar_type() == torch::kFloat ? values_of<float>(given) : values_of<Bfloat16>(given);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const Tensor x = context->get_saved_variables().front();
    const Tensor gradient = upstream.front().contiguous();
    return {x.scalar_type() == torch::kFloat ? gradients_of<float>(x, gradient) : gradients_of<Bfloat16>(x, gradient)};
  }
};

}  // namespace

Tensor tanh_gelu_fused(const Tensor& x) { return FusedTanhGelu::apply(x); }

Tensor tanh_gelu(const Tensor& x) {
  switch (choose_kernel(Operation::kTanhGelu, kernel_call(x))) {
    case KernelVersion::kOwn:
      return tanh_gelu_fused(x);
    default:
      return torch::gelu(x, "tanh");
  }
}

}  // namespace xlm
