// Linear layers in float32 on the CPU: only the weight of the forward pass and tiles of the gradient are transposed.
//
// m rows, in and out features.
#include "core/kernels/linear.h"

#include <ATen/autocast_mode.h>

#include <optional>
#include <vector>

#include "core/kernels/few_rows.h"
#include "core/kernels/kernel_table.h"
#include "core/kernels/mixed_product.h"
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

/// Fewer rows than this read the weight once in any case, and a transposed copy would cost more than the product.
constexpr std::int64_t kFewRows = 8;

/// rows·W + b of rows [m, in] and weight [in, out].
Tensor times(const Tensor& rows, const Tensor& weight, const std::optional<Tensor>& bias = std::nullopt) {
  if (rows.size(0) < kFewRows) return few_rows_affine(rows.contiguous(), weight, bias);
  return rows_product(rows, RightMatrix(weight), bias);
}

/// rows·Wᵀ + b of rows [m, in] and weight [out, in].
Tensor times_transpose(const Tensor& rows, const Tensor& weight, const std::optional<Tensor>& bias = std::nullopt) {
  if (rows.size(0) < kFewRows) return few_rows_linear(rows.contiguous(), weight, bias);
  return rows_product(rows, RightMatrix::transpose_of(weight), bias);
}

/// x·Wᵀ + b of a weight [out, in] if `kOutFirst`; else x·W + b of one [in, out].
template <bool kOutFirst>
class LayerProduct : public torch::autograd::Function<LayerProduct<kOutFirst>> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    const Tensor rows = as_rows(x);
    context->save_for_backward({rows, weight});
    context->saved_data["shape"] = x.sizes().vec();
    context->saved_data["bias"] = bias.has_value();
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = weight.size(kOutFirst ? 0 : 1);
    return (kOutFirst ? times_transpose(rows, weight, bias) : times(rows, weight, bias)).view(shape);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const Tensor& rows = saved[0];
    const Tensor& weight = saved[1];
    const Tensor gradient = as_rows(upstream[0]);  // [m, out]
    variable_list result(3);
    if (context->needs_input_grad(0)) {
      const Tensor of_rows = kOutFirst ? times(gradient, weight) : times_transpose(gradient, weight);
      result[0] = of_rows.view(context->saved_data["shape"].toIntVector());
    }
    if (context->needs_input_grad(1)) {
      result[1] = kOutFirst ? weight_gradient(gradient, rows) : weight_gradient(rows, gradient);
    }
    if (context->saved_data["bias"].toBool()) result[2] = gradient.sum(0);
    return result;
  }
};

class LinearWithPast : public torch::autograd::Function<LinearWithPast> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& seen, const Tensor& block, const Tensor& weight) {
    const Tensor rows = as_rows(seen);
    context->save_for_backward({rows, weight});
    context->saved_data["block"] = block.size(1);
    return rows_product(rows, RightMatrix::transpose_of(weight)).view({seen.size(0), seen.size(1), weight.size(0)});
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const std::int64_t block = context->saved_data["block"].toInt();
    const Tensor& gradient = upstream[0];  // [B, T, out]
    variable_list result(3);
    if (context->needs_input_grad(1)) {
      const Tensor of_block = as_rows(gradient.narrow(1, gradient.size(1) - block, block));
      result[1] = rows_product(of_block, RightMatrix(saved[1])).view({gradient.size(0), block, saved[1].size(1)});
    }
    if (context->needs_input_grad(2)) result[2] = weight_gradient(as_rows(gradient), saved[0]);
    return result;
  }
};

KernelVersion choose_linear(const Tensor& x, const Tensor& weight) {
  KernelCall call = kernel_call(x);
  if (weight.scalar_type() != torch::kFloat) call.type = weight.scalar_type();
  return choose_kernel(Operation::kLinear, call);
}

/// LinearWithPast by libtorch's products in the type `products`.
class ComposedLinearWithPast : public torch::autograd::Function<ComposedLinearWithPast> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& seen, const Tensor& block, const Tensor& weight,
                        torch::ScalarType products) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const Tensor rows = seen.to(products).reshape({-1, seen.size(2)});
    const Tensor factor = weight.to(products);
    context->save_for_backward({rows, factor});
    context->saved_data["block"] = block.size(1);
    context->saved_data["type of block"] = block.scalar_type();
    context->saved_data["type of weight"] = weight.scalar_type();
    return torch::linear(rows, factor).view({seen.size(0), seen.size(1), weight.size(0)});
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const std::int64_t block = context->saved_data["block"].toInt();
    const Tensor& gradient = upstream[0];  // [B, T, out]
    variable_list result(4);
    if (context->needs_input_grad(1)) {
      const Tensor of_block = gradient.narrow(1, gradient.size(1) - block, block).reshape({-1, gradient.size(2)});
      result[1] = product_as(of_block, saved[1], context->saved_data["type of block"].toScalarType())
                      .view({gradient.size(0), block, saved[1].size(1)});
    }
    if (context->needs_input_grad(2)) {
      result[2] = product_as(gradient.reshape({-1, gradient.size(2)}).t(), saved[0],
                             context->saved_data["type of weight"].toScalarType());
    }
    return result;
  }
};

/// LayerProduct by libtorch's products in the type `products`, as on a GPU under autocast. Gradients of weights are
/// sums in the weight's type, which autocast would round to `products` on the way.
template <bool kOutFirst>
class ComposedLinear : public torch::autograd::Function<ComposedLinear<kOutFirst>> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias, torch::ScalarType products) {
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const Tensor rows = x.to(products).reshape({-1, x.size(-1)});
    const Tensor factor = kOutFirst ? weight.to(products) : weight.to(products).t();  // [out, in]
    context->save_for_backward({rows, factor});
    context->saved_data["shape"] = x.sizes().vec();
    context->saved_data["type of x"] = x.scalar_type();
    context->saved_data["type of weight"] = weight.scalar_type();
    context->saved_data["bias"] = bias.has_value();
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = factor.size(0);
    return torch::linear(rows, factor, bias ? bias->to(products) : Tensor()).view(shape);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const Tensor gradient = upstream[0].reshape({-1, upstream[0].size(-1)});  // [m, out]
    const torch::ScalarType type = context->saved_data["type of weight"].toScalarType();
    variable_list result(4);
    if (context->needs_input_grad(0)) {
      result[0] = product_as(gradient, saved[1], context->saved_data["type of x"].toScalarType())
                      .view(context->saved_data["shape"].toIntVector());
    }
    if (context->needs_input_grad(1)) {
      result[1] = kOutFirst ? product_as(gradient.t(), saved[0], type) : product_as(saved[0].t(), gradient, type);
    }
    if (context->saved_data["bias"].toBool()) result[2] = column_sums(gradient).to(type);
    return result;
  }
};

/// The product of x and a weight [out, in] if `kOutFirst`, else [in, out], by libtorch.
template <bool kOutFirst>
Tensor composed_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const torch::ScalarType products = type_of_products(weight);
  if (!x.is_cuda() || products == weight.scalar_type()) return torch::linear(x, kOutFirst ? weight : weight.t(), bias);
  return ComposedLinear<kOutFirst>::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt, products);
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
      return LayerProduct<true>::apply(x, weight.contiguous(),
                                       bias.defined() ? std::optional(bias.contiguous()) : std::nullopt);
    default:
      return composed_linear<true>(x, weight, bias);
  }
}

Tensor affine_product(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  switch (choose_linear(x, weight)) {
    case KernelVersion::kWidened:
      return in_rounded_values(affine_product, x, weight, bias);
    case KernelVersion::kOwn:
      return LayerProduct<false>::apply(x, weight.contiguous(), std::optional(bias.contiguous()));
    default:
      if (StepWeights* shared = StepWeights::current()) return shared->affine(x, weight, bias);
      return composed_linear<false>(x, weight, bias);
  }
}

Tensor product_with_past(const Tensor& seen, const Tensor& block, const Tensor& weight) {
  switch (choose_linear(seen, weight)) {
    case KernelVersion::kWidened:
      return in_rounded_values(product_with_past, seen, block, weight);
    case KernelVersion::kOwn:
      return LinearWithPast::apply(seen, block, weight.contiguous());
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

Tensor composed_linear_layer(const Tensor& x, const Tensor& weight, const Tensor& bias, torch::ScalarType products) {
  return ComposedLinear<true>::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt, products);
}

Tensor composed_affine_layer(const Tensor& x, const Tensor& weight, const Tensor& bias, torch::ScalarType products) {
  return ComposedLinear<false>::apply(x, weight, std::optional(bias), products);
}

Tensor composed_linear_with_past(const Tensor& seen, const Tensor& block, const Tensor& weight) {
  return ComposedLinearWithPast::apply(seen, block, weight, type_of_products(weight));
}

Tensor linear_layer_with_past(const Tensor& seen, const Tensor& block, const Tensor& weight) {
  return shown(seen, weight, product_with_past(seen, block, weight));
}

}  // namespace xlm
