// Dropout by place: the row of the batch, the line in it, and the column, which is the last dimension.
#include "core/kernels/dropout.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <limits>

#include "core/kernels/simd_dispatch.h"
#include "core/kernels/step_context.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kElementsOfAShare = 16384;  // of a thread's smallest share

template <int, class T>
XLM_SIMD_INLINE void scale_row_of(const T* from, T* to, std::int64_t width, const Dropout& given, std::uint32_t key) {
  const Dropout dropout = given;  // a copy, so that writes cannot change it
#pragma omp simd
  for (std::int64_t j = 0; j < width; ++j) {
    to[j] = from[j] * static_cast<T>(dropout.factor(key, static_cast<std::uint32_t>(j)));
  }
}

XLM_SIMD_VERSIONS(void, scale_row,
                  (const float* from, float* to, std::int64_t width, const Dropout& dropout, std::uint32_t key),
                  (from, to, width, dropout, key))
template <class T>
void scale_row(const T* from, T* to, std::int64_t width, const Dropout& dropout, std::uint32_t key) {
  scale_row_of<1>(from, to, width, dropout, key);
}

/// given · factors, which is the value and also the gradient for a given gradient.
Tensor times_factors(const Tensor& given, double probability, std::int64_t seed) {
  const Tensor x = given.contiguous();
  Tensor out = torch::empty_like(x, x.options().requires_grad(false));
  const std::int64_t width = std::max<std::int64_t>(1, x.size(-1));
  const std::int64_t lines = std::max<std::int64_t>(1, x.dim() > 1 ? x.numel() / x.size(0) / width : 1);  // of a row
  const Dropout dropout(probability);
  AT_DISPATCH_FLOATING_TYPES_AND2(torch::kBFloat16, torch::kHalf, x.scalar_type(), "place_dropout", [&] {
    const scalar_t* from = x.const_data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    const std::int64_t grain = std::max<std::int64_t>(1, kElementsOfAShare / width);
    at::parallel_for(0, x.numel() / width, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t line = begin; line < end; ++line) {
        const std::uint32_t key = Dropout::key_of(static_cast<std::uint64_t>(seed), line / lines, line % lines, 0);
        scale_row(from + line * width, to + line * width, width, dropout, key);
      }
    });
  });
  return out;
}

class PlaceDropout : public torch::autograd::Function<PlaceDropout> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, double probability, std::int64_t seed) {
    context->saved_data["probability"] = probability;
    context->saved_data["seed"] = seed;
    return times_factors(x, probability, seed);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    return {
        times_factors(upstream[0], context->saved_data["probability"].toDouble(), context->saved_data["seed"].toInt()),
        Tensor(), Tensor()};
  }
};

}  // namespace

Tensor place_dropout(const Tensor& x, double probability, std::uint64_t seed) {
  if (probability == 0) return x;
  if (!x.device().is_cpu()) return torch::dropout(x, probability, true);
  return PlaceDropout::apply(x, probability, static_cast<std::int64_t>(seed));
}

std::uint64_t draw_seed() {
  return static_cast<std::uint64_t>(
      torch::randint(std::numeric_limits<std::int64_t>::max(), {1}, torch::kLong).item<std::int64_t>());
}

std::uint64_t draw_dropout_seed() { return Dropout::seed_from_row(draw_seed(), step_context().first_row); }

}  // namespace xlm
