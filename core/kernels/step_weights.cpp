// Weights that a step uses many times. Each use has the weight as a constant, and a ticket as an input: an empty
// tensor, from which the weight's gradient follows. libtorch goes back through the ticket when it has gone back through
// all uses. By then each has left its part behind. Parts of many bytes are added to the gradient earlier.
//
// m rows, in and out features, k width.
#include "core/kernels/step_weights.h"

#include <c10/core/impl/LocalDispatchKeySet.h>

#include <ATen/core/ivalue.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/kernels/mixed_product.h"
#include "core/kernels/step_context.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::size_t bytes_of(const std::vector<Tensor>& parts) {
  std::size_t bytes = 0;
  for (const Tensor& part : parts) bytes += part.nbytes();
  return bytes;
}

}  // namespace

/// Each use adds tensors of as many rows; all of them one below the other give the gradients.
class WeightUses : public torch::CustomClassHolder {
 public:
  using Gradients = std::function<variable_list(const std::vector<Tensor>& joined)>;

  /// `gradients` are those of weight and bias. Nothing else uses their memory.
  WeightUses(std::shared_ptr<StepWeights::UsedBytes> bytes, Gradients gradients)
      : bytes_(std::move(bytes)), gradients_(std::move(gradients)) {}

  void add(std::vector<Tensor> parts) {
    bytes_->now += bytes_of(parts);
    parts_.push_back(std::move(parts));
    if (bytes_->now > bytes_->limit) sum_up();
    bytes_->most = std::max(bytes_->most, bytes_->now);
  }

  /// Of weight and bias; undefined if there was no use. Forgets the uses.
  variable_list gradients() {
    sum_up();
    return std::exchange(sums_, variable_list(2));
  }

 private:
  /// Turns the parts that are there into gradients.
  void sum_up() {
    if (parts_.empty()) return;
    std::vector<Tensor> joined;
    for (std::size_t i = 0; i < parts_.front().size(); ++i) {
      std::vector<Tensor> column;
      for (const std::vector<Tensor>& use : parts_) column.push_back(use[i]);
      joined.push_back(column.size() > 1 ? torch::cat(column) : column.front());
    }
    for (const std::vector<Tensor>& use : parts_) bytes_->now -= bytes_of(use);
    parts_.clear();
    variable_list found = gradients_(joined);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (!found[i].defined()) continue;
      sums_[i] = sums_[i].defined() ? sums_[i].add_(found[i]) : std::move(found[i]);
    }
  }

  std::shared_ptr<StepWeights::UsedBytes> bytes_;
  Gradients gradients_;
  std::vector<std::vector<Tensor>> parts_;  // by use
  variable_list sums_ = variable_list(2);   // gradients of earlier uses
};

namespace {

using UsesPointer = c10::intrusive_ptr<WeightUses>;

void keep_uses(AutogradContext* context, const UsesPointer& uses) {
  context->saved_data["uses"] = c10::IValue::make_capsule(uses);
}

UsesPointer kept_uses(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<WeightUses>(context->saved_data["uses"].toCapsule());
}

/// [..., n] → [m, n].
Tensor in_rows(const Tensor& x) { return x.reshape({-1, x.size(-1)}); }

/// Makes the ticket, and in the backward pass the gradients.
class WeightTicket : public torch::autograd::Function<WeightTicket> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& weight, const std::optional<Tensor>& bias,
                        const UsesPointer& uses) {
    (void)bias;
    keep_uses(context, uses);
    context->set_materialize_grads(false);  // uses give the ticket no gradient
    return weight.new_empty({0});
  }

  static variable_list backward(AutogradContext* context, const variable_list& /*upstream*/) {
    variable_list result = kept_uses(context)->gradients();
    result.resize(3);
    return result;
  }
};

class AffineUse : public torch::autograd::Function<AffineUse> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& ticket, const Tensor& weight,
                        const Tensor& bias, const UsesPointer& uses) {
    (void)ticket;
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const Tensor rows = in_rows(x.to(weight.scalar_type()));
    context->save_for_backward({rows, weight});
    context->saved_data["shape"] = x.sizes().vec();
    context->saved_data["type"] = x.scalar_type();
    keep_uses(context, uses);
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = weight.size(1);
    return torch::addmm(bias, rows, weight).view(shape);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const Tensor gradient = in_rows(upstream[0]);  // [m, out]
    kept_uses(context)->add({saved[0], gradient});
    variable_list result(5);
    if (context->needs_input_grad(0)) {
      result[0] = product_as(gradient, saved[1].t(), context->saved_data["type"].toScalarType())
                      .view(context->saved_data["shape"].toIntVector());
    }
    return result;
  }
};

class RowsUse : public torch::autograd::Function<RowsUse> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& ticket, const Tensor& table, const Tensor& indices,
                        const UsesPointer& uses) {
    (void)ticket;
    context->save_for_backward({indices});
    keep_uses(context, uses);
    return torch::embedding(table, indices);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    kept_uses(context)->add({context->get_saved_variables()[0].flatten(), in_rows(upstream[0])});
    return variable_list(4);
  }
};

class LayerNormUse : public torch::autograd::Function<LayerNormUse> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& ticket, const Tensor& weight,
                        const Tensor& bias, double epsilon, const UsesPointer& uses) {
    (void)ticket;
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    const Tensor given = x.to(weight.scalar_type()).contiguous();
    auto [out, mean, deviation] = torch::native_layer_norm(given, {given.size(-1)}, weight, bias, epsilon);
    context->save_for_backward({given, mean, deviation, weight, bias});
    keep_uses(context, uses);
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const Tensor& given = saved[0];
    kept_uses(context)->add(
        {in_rows(upstream[0]), in_rows(given), saved[1].reshape({-1, 1}), saved[2].reshape({-1, 1})});
    variable_list result(6);
    if (context->needs_input_grad(0)) {
      result[0] = std::get<0>(torch::native_layer_norm_backward(upstream[0], given, {given.size(-1)}, saved[1],
                                                                saved[2], saved[3], saved[4], {true, false, false}));
    }
    return result;
  }
};

}  // namespace

/// What the uses of a weight have in common.
struct StepWeights::Shared {
  Tensor weight, bias;  // constants, of the type in which they are used
  Tensor ticket;
  UsesPointer uses;  // null: there was none
};

StepWeights::StepWeights(torch::ScalarType products, std::size_t most_bytes)
    : products_(products),
      bytes_(std::make_shared<UsedBytes>(UsedBytes{.limit = most_bytes})),
      before_(std::exchange(step_context().weights, this)) {}
StepWeights::~StepWeights() { step_context().weights = before_; }

StepWeights* StepWeights::current() { return torch::GradMode::is_enabled() ? step_context().weights : nullptr; }

StepWeights::Shared& StepWeights::shared(std::unordered_map<const void*, std::unique_ptr<Shared>>& by_weight,
                                         const Tensor& weight) {
  std::unique_ptr<Shared>& found = by_weight[weight.unsafeGetTensorImpl()];
  if (!found) found = std::make_unique<Shared>();
  return *found;
}

Tensor StepWeights::affine(const Tensor& x, const Tensor& weight, const Tensor& bias, bool out_first) {
  Shared& common = shared(shared_, weight);
  if (!common.uses) {
    common.weight = weight.detach().to(products_);
    if (out_first) common.weight = common.weight.t();
    common.bias = bias.detach().to(products_);
    const torch::ScalarType type = weight.scalar_type();
    common.uses = c10::make_intrusive<WeightUses>(bytes_, [type, out_first](const std::vector<Tensor>& joined) {
      const Tensor& left = joined[out_first ? 1 : 0];
      const Tensor& right = joined[out_first ? 0 : 1];
      return variable_list{product_as(left.t(), right, type), column_sums(joined[1]).to(type)};
    });
    common.ticket = WeightTicket::apply(weight, std::optional(bias), common.uses);
  }
  return AffineUse::apply(x, common.ticket, common.weight, common.bias, common.uses);
}

Tensor StepWeights::rows(const Tensor& table, const Tensor& indices) {
  Shared& common = shared(shared_, table);
  if (!common.uses) {
    common.weight = table.detach();
    common.uses = c10::make_intrusive<WeightUses>(bytes_, [count = table.size(0)](const std::vector<Tensor>& joined) {
      return variable_list{torch::embedding_dense_backward(joined[1], joined[0], count, /*padding_idx=*/-1,
                                                           /*scale_grad_by_freq=*/false)};
    });
    common.ticket = WeightTicket::apply(table, std::optional<Tensor>(), common.uses);
  }
  return RowsUse::apply(common.ticket, common.weight, indices, common.uses);
}

StepWeights::Use StepWeights::norm(const Tensor& weight, const Tensor& bias) {
  Shared& common = shared(norms_, weight);
  if (!common.uses) {
    common.weight = weight.detach();
    if (bias.defined()) common.bias = bias.detach();
    const bool has_bias = bias.defined();
    common.uses = c10::make_intrusive<WeightUses>(bytes_, [has_bias](const std::vector<Tensor>& joined) {
      const Tensor sums = joined[0].sum(0);  // [2, k]
      return variable_list{sums[0], has_bias ? sums[1] : Tensor()};
    });
    common.ticket = WeightTicket::apply(weight, has_bias ? std::optional(bias) : std::nullopt, common.uses);
  }
  return {.weight = common.weight, .bias = common.bias, .ticket = common.ticket, .uses = common.uses};
}

void StepWeights::leave_behind(const c10::intrusive_ptr<torch::CustomClassHolder>& uses, const Tensor& part) {
  c10::static_intrusive_pointer_cast<WeightUses>(uses)->add({part});
}

Tensor StepWeights::layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  Shared& common = shared(shared_, weight);
  if (!common.uses) {
    common.weight = weight.detach();
    common.bias = bias.detach();
    common.uses = c10::make_intrusive<WeightUses>(
        bytes_, [scale = common.weight, shift = common.bias](const std::vector<Tensor>& joined) {
          auto gradients = torch::native_layer_norm_backward(joined[0], joined[1], {joined[1].size(1)}, joined[2],
                                                             joined[3], scale, shift, {false, true, true});
          return variable_list{std::get<1>(gradients), std::get<2>(gradients)};
        });
    common.ticket = WeightTicket::apply(weight, std::optional(bias), common.uses);
  }
  return LayerNormUse::apply(x, common.ticket, common.weight, common.bias, epsilon, common.uses);
}

}  // namespace xlm
