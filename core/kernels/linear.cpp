// Linear layers by the fastest product that libtorch has for them.
#include "core/kernels/linear.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <string_view>

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// a·bᵀ (+ bias): a [m, k], b [n, k].
Tensor product(const Tensor& a, const Tensor& b, const std::optional<Tensor>& bias = std::nullopt) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("mkldnn::_linear_pointwise", "")
                             .typed<Tensor(const Tensor&, const Tensor&, const std::optional<Tensor>&, std::string_view,
                                           torch::List<std::optional<at::Scalar>>, std::optional<std::string_view>)>();
  return op.call(a, b, bias, "none", torch::List<std::optional<at::Scalar>>(), "");
}

class Linear : public torch::autograd::Function<Linear> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    const Tensor rows = x.reshape({-1, x.size(-1)});
    context->save_for_backward({rows, weight});
    context->saved_data["shape"] = x.sizes().vec();
    context->saved_data["bias"] = bias.has_value();
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = weight.size(0);
    return product(rows, weight, bias).view(shape);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const Tensor gradient = upstream[0].reshape({-1, upstream[0].size(-1)});  // [m, out]
    variable_list result(3);
    if (context->needs_input_grad(0)) {
      result[0] = product(gradient, saved[1].t().contiguous()).view(context->saved_data["shape"].toIntVector());
    }
    if (context->needs_input_grad(1)) result[1] = product(gradient.t().contiguous(), saved[0].t().contiguous());
    if (context->saved_data["bias"].toBool()) result[2] = gradient.sum(0);
    return result;
  }
};

class LinearWithPast : public torch::autograd::Function<LinearWithPast> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& seen, const Tensor& block, const Tensor& weight) {
    const Tensor rows = seen.reshape({-1, seen.size(2)});
    context->save_for_backward({rows, weight});
    context->saved_data["block"] = block.size(1);
    return product(rows, weight).view({seen.size(0), seen.size(1), weight.size(0)});
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const std::int64_t block = context->saved_data["block"].toInt();
    const Tensor& gradient = upstream[0];  // [B, T, out]
    variable_list result(3);
    if (context->needs_input_grad(1)) {
      const Tensor of_block = gradient.narrow(1, gradient.size(1) - block, block);
      result[1] = product(of_block.reshape({-1, gradient.size(2)}), saved[1].t().contiguous())
                      .view({gradient.size(0), block, saved[1].size(1)});
    }
    if (context->needs_input_grad(2)) {
      result[2] = product(gradient.reshape({-1, gradient.size(2)}).t().contiguous(), saved[0].t().contiguous());
    }
    return result;
  }
};

/// Where oneDNN's product is the fastest.
bool takes_onednn(const Tensor& x, const Tensor& weight) {
  const bool single = x.scalar_type() == torch::kFloat && weight.scalar_type() == torch::kFloat;
  return single && x.device().is_cpu() && x.numel() > 0 && !at::autocast::is_autocast_enabled(torch::kCPU);
}

}  // namespace

Tensor linear_layer_with_past(const Tensor& seen, const Tensor& block, const Tensor& weight) {
  if (takes_onednn(seen, weight)) return LinearWithPast::apply(seen, block, weight);
  return torch::linear(torch::cat({seen.narrow(1, 0, seen.size(1) - block.size(1)), block}, 1), weight);
}

Tensor linear_layer(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!takes_onednn(x, weight)) return torch::linear(x, weight, bias);
  return Linear::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace xlm
