// ReLU and dropout in one pass on the CPU. The last dimension is a row; an element's place is its row and column.
#include "core/kernels/relu_dropout.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>

#include "core/kernels/clones.h"
#include "core/kernels/dropout.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kGrain = 16384;  // elements of a thread's smallest share

/// Calls f(row, first element) for every row, in parallel.
template <class F>
void for_each_row(std::int64_t rows, std::int64_t width, const F& f) {
  at::parallel_for(0, rows, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(1, width)),
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t row = begin; row < end; ++row) f(row, row * width);
                   });
}

template <class T>
XLM_INLINE void drop_row_body(const T* from, T* to, std::int64_t width, const Dropout& given, std::uint32_t key) {
  const Dropout dropout = given;  // a copy, so that writing cannot change it
#pragma omp simd
  for (std::int64_t j = 0; j < width; ++j) {
    const T factor = static_cast<T>(dropout.factor(key, static_cast<std::uint32_t>(j)));
    to[j] = (from[j] > T{0} ? from[j] : T{0}) * factor;
  }
}

template <class T>
XLM_INLINE void gradient_row_body(const T* upstream, const T* kept, T* to, std::int64_t width, T scale) {
#pragma omp simd
  for (std::int64_t j = 0; j < width; ++j) to[j] = kept[j] > T{0} ? upstream[j] * scale : T{0};
}

XLM_CLONES void drop_row(const float* from, float* to, std::int64_t width, const Dropout& dropout, std::uint32_t key) {
  drop_row_body(from, to, width, dropout, key);
}
template <class T>
void drop_row(const T* from, T* to, std::int64_t width, const Dropout& dropout, std::uint32_t key) {
  drop_row_body(from, to, width, dropout, key);
}

XLM_CLONES void gradient_row(const float* upstream, const float* kept, float* to, std::int64_t width, float scale) {
  gradient_row_body(upstream, kept, to, width, scale);
}
template <class T>
void gradient_row(const T* upstream, const T* kept, T* to, std::int64_t width, T scale) {
  gradient_row_body(upstream, kept, to, width, scale);
}

class ReluDropout : public torch::autograd::Function<ReluDropout> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& input, double probability, std::int64_t seed) {
    const Tensor x = input.contiguous();
    Tensor out = torch::empty_like(x);
    const std::int64_t width = x.size(-1);
    const Dropout dropout(probability);
    AT_DISPATCH_FLOATING_TYPES_AND(torch::kBFloat16, x.scalar_type(), "relu_dropout", [&] {
      const scalar_t* from = x.const_data_ptr<scalar_t>();
      scalar_t* to = out.data_ptr<scalar_t>();
      for_each_row(x.numel() / width, width, [&](std::int64_t row, std::int64_t first) {
        drop_row(from + first, to + first, width, dropout, Dropout::row_key(static_cast<std::uint64_t>(seed), row, 0));
      });
    });
    context->save_for_backward({out});
    context->saved_data["probability"] = probability;
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const Tensor out = context->get_saved_variables()[0];
    const Tensor given = upstream[0].contiguous();
    Tensor gradient = torch::empty_like(given);
    const std::int64_t width = out.size(-1);
    AT_DISPATCH_FLOATING_TYPES_AND(torch::kBFloat16, out.scalar_type(), "relu_dropout", [&] {
      const auto scale = static_cast<scalar_t>(1 / (1 - context->saved_data["probability"].toDouble()));
      const scalar_t* from = given.const_data_ptr<scalar_t>();
      const scalar_t* kept = out.const_data_ptr<scalar_t>();
      scalar_t* to = gradient.data_ptr<scalar_t>();
      for_each_row(out.numel() / width, width, [&](std::int64_t /*row*/, std::int64_t first) {
        gradient_row(from + first, kept + first, to + first, width, scale);
      });
    });
    return {gradient, Tensor(), Tensor()};
  }
};

}  // namespace

Tensor relu_dropout(const Tensor& x, double probability, std::uint64_t seed) {
  if (probability == 0) return torch::relu(x);
  if (!x.device().is_cpu()) return torch::dropout(torch::relu(x), probability, true);
  return ReluDropout::apply(x, probability, static_cast<std::int64_t>(seed));
}

Tensor relu_dropout_plain(const Tensor& x, double probability, std::uint64_t seed) {
  const std::int64_t width = x.size(-1);
  const Tensor factors = torch::empty({x.numel() / width, width}, torch::kFloat);
  const Dropout dropout(probability);
  for (std::int64_t row = 0; row < factors.size(0); ++row) {
    const std::uint32_t key = Dropout::row_key(seed, row, 0);
    for (std::int64_t j = 0; j < width; ++j) {
      factors.data_ptr<float>()[row * width + j] = dropout.factor(key, static_cast<std::uint32_t>(j));
    }
  }
  return torch::relu(x) * factors.view(x.sizes()).to(x.scalar_type());
}

}  // namespace xlm
