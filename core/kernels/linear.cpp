// Linear layers in float32 on the CPU: only the weight of the forward pass and tiles of the gradient are transposed.
//
// m rows, in and out features.
#include "core/kernels/linear.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/kernels/kernel_table.h"
#include "core/kernels/mixed_product.h"
#include "core/kernels/simd.h"
#include "core/kernels/step_context.h"
#include "core/kernels/step_weights.h"
#include "core/kernels/tiled_gemm.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// [..., n] → [m, n] with contiguous rows.
Tensor as_rows(const Tensor& x) {
  const Tensor rows = x.reshape({-1, x.size(-1)});
  return rows.stride(1) == 1 || rows.size(1) == 1 ? rows : rows.contiguous();
}

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

/// rows·W + b or rows·Wᵀ + b, without a gradient, as in sampling token by token: its time is that of reading the
/// weight, which all threads share. libtorch leaves it to MKL, whose product of a matrix and a vector uses one thread,
/// and slow loops on processors other than Intel's. A row's result depends neither on the other rows nor on the
/// threads.
Tensor few_rows_product(const Tensor& x, const Tensor& weight, bool out_first, const std::optional<Tensor>& bias) {
  const Sizes sizes{x.size(0), x.size(1), weight.size(out_first ? 0 : 1)};
  Tensor y = bias ? bias->repeat({sizes.m, 1}) : x.new_zeros({sizes.m, sizes.out});
  const auto* from = x.const_data_ptr<float>();
  const auto* by = weight.const_data_ptr<float>();
  auto* to = y.mutable_data_ptr<float>();
  const std::int64_t share = kShare / (kColumnsAtOnce * std::max<std::int64_t>(1, sizes.in));
  at::parallel_for(0, (sizes.out + kColumnsAtOnce - 1) / kColumnsAtOnce, std::max<std::int64_t>(1, share),
                   [&](std::int64_t begin, std::int64_t end) {
                     (out_first ? add_linear : add_affine)(sizes, begin * kColumnsAtOnce,
                                                           std::min(end * kColumnsAtOnce, sizes.out), from, by, to);
                   });
  return y;
}

/// Fewer rows than this read the weight once in any case, and a transposed copy would cost more than the product.
constexpr std::int64_t kFewRows = 8;

/// rows·W + b of rows [m, in] and weight [in, out], or rows·Wᵀ + b of a weight [out, in] if `out_first`.
Tensor times(const Tensor& rows, const Tensor& weight, bool out_first,
             const std::optional<Tensor>& bias = std::nullopt) {
  if (rows.size(0) < kFewRows) return few_rows_product(rows.contiguous(), weight, out_first, bias);
  return rows_product(rows, RightMatrix(weight, out_first), bias);
}

struct ProductForm {
  bool out_first;                               // a weight [out, in], else [in, out]
  std::optional<torch::ScalarType> products{};  // libtorch's products in this type, else our own
};

/// x·Wᵀ + b or x·W + b. If `block` is given, which has the values of x's last positions, it receives their gradient,
/// and x none. Gradients of weights are sums in the weight's type, which autocast would round to that of the products.
class LayerProduct : public torch::autograd::Function<LayerProduct> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias, const std::optional<Tensor>& block,
                        const ProductForm& form) {
    const auto& [out_first, products] = form;
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const Tensor rows = as_rows(products ? x.to(*products) : x);
    const Tensor factor = products ? weight.to(*products) : weight;
    const Tensor& receiver = block ? *block : x;
    context->save_for_backward({rows, factor});
    context->saved_data["own"] = !products;
    context->saved_data["out first"] = out_first;
    context->saved_data["shape"] = receiver.sizes().vec();
    context->saved_data["type"] = receiver.scalar_type();
    context->saved_data["type of weight"] = weight.scalar_type();
    context->saved_data["bias"] = bias.has_value();
    context->saved_data["block"] = block.has_value();
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = weight.size(out_first ? 0 : 1);
    if (!products) return times(rows, factor, out_first, bias).view(shape);
    return torch::linear(rows, out_first ? factor : factor.t(), bias ? bias->to(*products) : Tensor()).view(shape);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const Tensor& rows = saved[0];
    const Tensor& weight = saved[1];
    const bool own = context->saved_data["own"].toBool();
    const bool out_first = context->saved_data["out first"].toBool();
    const bool block = context->saved_data["block"].toBool();
    const torch::ScalarType type = context->saved_data["type of weight"].toScalarType();
    const Tensor gradient = as_rows(upstream[0]);  // [m, out]
    variable_list result(5);
    if (context->needs_input_grad(block ? 2 : 0)) {
      const std::vector<std::int64_t> shape = context->saved_data["shape"].toIntVector();
      const Tensor given = block ? as_rows(upstream[0].narrow(1, upstream[0].size(1) - shape[1], shape[1])) : gradient;
      result[block ? 3 : 0] =
          (own ? times(given, weight, !out_first)
               : product_as(given, out_first ? weight : weight.t(), context->saved_data["type"].toScalarType()))
              .view(shape);
    }
    if (context->needs_input_grad(1)) {
      const Tensor& left = out_first ? gradient : rows;
      const Tensor& right = out_first ? rows : gradient;
      result[1] = own ? weight_gradient(left, right) : product_as(left.t(), right, type);
    }
    if (context->saved_data["bias"].toBool()) result[2] = own ? gradient.sum(0) : column_sums(gradient).to(type);
    return result;
  }
};

KernelVersion choose_linear(const Tensor& x, const Tensor& weight) {
  KernelCall call = kernel_call(x);
  if (weight.scalar_type() != torch::kFloat) call.type = weight.scalar_type();
  return choose_kernel(Operation::kLinear, call);
}

/// The product of x and a weight [out, in] if `out_first`, else [in, out], by libtorch.
Tensor composed_product(const Tensor& x, const Tensor& weight, const Tensor& bias, bool out_first) {
  const torch::ScalarType products = type_of_products(weight);
  if (!x.is_cuda() || products == weight.scalar_type()) {
    return torch::linear(x, out_first ? weight : weight.t(), bias);
  }
  return composed_linear_layer(x, weight, bias, products, out_first);
}

/// In float32 with the values of bfloat16.
Tensor bfloat16_values(const Tensor& x) { return x.defined() ? x.to(torch::kBFloat16).to(torch::kFloat) : x; }

/// f(a, b, c) with operands and result in the values of bfloat16, as autocast has them, multiplied in float32.
template <class F>
Tensor in_rounded_values(const F& f, const Tensor& a, const Tensor& b, const Tensor& c) {
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::DispatchKey::AutocastCPU);
  return f(bfloat16_values(a), bfloat16_values(b), bfloat16_values(c)).to(torch::kBFloat16);
}

Tensor linear_product(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  switch (choose_linear(x, weight)) {
    case KernelVersion::kWidened:
      return in_rounded_values(linear_product, x, weight, bias);
    case KernelVersion::kOwn:
      return LayerProduct::apply(x, weight.contiguous(),
                                 bias.defined() ? std::optional(bias.contiguous()) : std::nullopt, std::nullopt,
                                 ProductForm{true});
    default:
      return composed_product(x, weight, bias, true);
  }
}

Tensor affine_product(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  switch (choose_linear(x, weight)) {
    case KernelVersion::kWidened:
      return in_rounded_values(affine_product, x, weight, bias);
    case KernelVersion::kOwn:
      return LayerProduct::apply(x, weight.contiguous(), std::optional(bias.contiguous()), std::nullopt,
                                 ProductForm{false});
    default:
      if (StepWeights* shared = StepWeights::current()) return shared->affine(x, weight, bias);
      return composed_product(x, weight, bias, false);
  }
}

Tensor product_with_past(const Tensor& seen, const Tensor& block, const Tensor& weight) {
  switch (choose_linear(seen, weight)) {
    case KernelVersion::kWidened:
      return in_rounded_values(product_with_past, seen, block, weight);
    case KernelVersion::kOwn:
      return LayerProduct::apply(seen, weight.contiguous(), std::nullopt, std::optional(block), ProductForm{true});
    default:
      if (seen.is_cuda()) return composed_linear_with_past(seen, block, weight);
      return torch::linear(torch::cat({seen.narrow(1, 0, seen.size(1) - block.size(1)), block}, 1), weight);
  }
}

Tensor shown(const Tensor& input, const Tensor& weight, Tensor output) {
  observe_product(input, weight, output);
  return output;
}

}  // namespace

Tensor linear_layer(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& parameter) {
  return shown(x, parameter.defined() ? parameter : weight, linear_product(x, weight, bias));
}

std::vector<Tensor> linear_layers(const Tensor& x, const std::vector<Tensor>& weights) {
  std::vector<Tensor> outputs;
  if (x.numel() < kFewRows * x.size(-1)) {
    for (const Tensor& weight : weights) outputs.push_back(linear_layer(x, weight));
    return outputs;
  }
  std::vector<std::int64_t> sizes;
  for (const Tensor& weight : weights) sizes.push_back(weight.size(0));
  outputs = linear_product(x, torch::cat(weights), {}).split_with_sizes(sizes, -1);
  for (std::size_t i = 0; i < weights.size(); ++i) observe_product(x, weights[i], outputs[i]);
  return outputs;
}

Tensor affine_layer(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return shown(x, weight, affine_product(x, weight, bias));
}

Tensor composed_linear_layer(const Tensor& x, const Tensor& weight, const Tensor& bias, torch::ScalarType products,
                             bool out_first) {
  return LayerProduct::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt, std::nullopt,
                             ProductForm{out_first, products});
}

Tensor composed_linear_with_past(const Tensor& seen, const Tensor& block, const Tensor& weight) {
  return LayerProduct::apply(seen, weight, std::nullopt, std::optional(block),
                             ProductForm{true, type_of_products(weight)});
}

Tensor linear_layer_with_past(const Tensor& seen, const Tensor& block, const Tensor& weight) {
  return shown(seen, weight, product_with_past(seen, block, weight));
}

}  // namespace xlm
