// Tensors as arguments of the GPU's kernels of norms, and the trial of these kernels.
#include "core/kernels/norm_device.h"

#include <limits>
#include <optional>

#include <ATen/CPUGeneratorImpl.h>

#include <fmt/format.h>

#include "core/kernels/dropout.h"
#include "core/kernels/kernel_trial.h"
#include "core/kernels/step_context.h"
#include "core/kernels/step_weights.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

float* numbers_of(const Tensor& x) { return x.defined() ? x.data_ptr<float>() : nullptr; }

band::Half* halves_of(const Tensor& x) {
  return x.defined() ? reinterpret_cast<band::Half*>(x.data_ptr<c10::BFloat16>()) : nullptr;
}

Tensor contiguous(const Tensor& x) { return x.defined() ? x.contiguous() : x; }

/// What the kernels need to know besides tensors.
struct NormCall {
  RowKernels* kernels = nullptr;
  NormOptions options;
  double dropout = 0;
  std::int64_t seed = 0;
  Tensor seed_place;       // instead of the seed
  bool is_stream = false;  // the norm is the stream: it is wanted in float32, and the sum is not
  c10::intrusive_ptr<torch::CustomClassHolder> uses;  // of the weights (StepWeights); null: gradients are returned
};

/// {sum or norm in float32, norm in bfloat16}; without the first if it is the stream that was given.
class DeviceNorm : public torch::autograd::Function<DeviceNorm> {
 public:
  /// `ticket`: of the weights, with NormCall::uses.
  static variable_list forward(AutogradContext* context, const NormCall& call, const Tensor& given,
                               const std::optional<Tensor>& added, const Tensor& scale,
                               const std::optional<Tensor>& bias, const std::optional<Tensor>& ticket) {
    (void)ticket;
    context->set_materialize_grads(false);
    const Tensor stream = given.contiguous();
    const Tensor more = added ? added->contiguous() : Tensor();
    const torch::TensorOptions numbers = stream.options().requires_grad(false);
    const std::int64_t width = stream.size(-1);
    const Tensor sum = added ? torch::empty(stream.sizes(), numbers) : stream.detach();
    const Tensor normed = call.is_stream ? torch::empty(stream.sizes(), numbers) : Tensor();
    const Tensor rounded = torch::empty(stream.sizes(), numbers.dtype(torch::kBFloat16));
    const Tensor sums = torch::empty({stream.numel() / width, 2}, numbers);
    Tensor seed = call.seed_place;
    if (call.dropout > 0 && step_context().seeds_on_device && !seed.defined()) {
      seed = torch::randint(std::numeric_limits<std::int64_t>::max(), {1}, numbers.dtype(torch::kLong));
    }
    const Tensor factors = scale.contiguous();
    const Tensor offsets = bias ? bias->contiguous() : Tensor();
    norm::Arguments a = arguments_of(call, stream, sums, seed);
    a.stream = stream.const_data_ptr<float>();
    a.added = halves_of(more);
    a.scale = factors.const_data_ptr<float>();
    a.bias = numbers_of(offsets);
    a.sum = added ? numbers_of(sum) : nullptr;
    a.normed = numbers_of(normed);
    a.rounded = halves_of(rounded);
    call.kernels->norm_forward(kind_of(call, width), a);
    context->save_for_backward({sum, factors, sums, seed});  // the seed may be undefined
    context->saved_data["kernels"] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(call.kernels));
    context->saved_data["centred"] = call.options.centred;
    context->saved_data["dropout"] = call.dropout;
    context->saved_data["seed"] = call.seed;
    context->saved_data["is_stream"] = call.is_stream;
    context->saved_data["added"] = added.has_value();
    context->saved_data["bias"] = bias.has_value();
    if (call.uses) context->saved_data["uses"] = c10::IValue::make_capsule(call.uses);
    if (call.is_stream) return {normed, rounded};
    if (!added) return {rounded};
    return {sum, rounded};
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    auto& data = context->saved_data;
    const NormCall call{.kernels = reinterpret_cast<RowKernels*>(static_cast<std::intptr_t>(data["kernels"].toInt())),
                        .options = {.centred = data["centred"].toBool()},
                        .dropout = data["dropout"].toDouble(),
                        .seed = data["seed"].toInt(),
                        .is_stream = data["is_stream"].toBool()};
    const variable_list saved = context->get_saved_variables();
    const Tensor& sum = saved[0];
    const std::int64_t width = sum.size(-1);
    const Tensor d_rounded = contiguous(upstream.back());
    const Tensor d_first = upstream.size() > 1 ? contiguous(upstream[0]) : Tensor();
    const Tensor d_stream = torch::empty(sum.sizes(), sum.options());
    const Tensor d_added =
        data["added"].toBool() ? torch::empty(sum.sizes(), sum.options().dtype(torch::kBFloat16)) : Tensor();
    norm::Arguments a = arguments_of(call, sum, saved[2], saved[3]);
    const norm::Kind kind = kind_of(call, width);
    const Tensor parts = torch::empty({norm::backward_blocks(kind, a.rows), 2, width}, sum.options());
    a.stream = sum.const_data_ptr<float>();
    a.scale = saved[1].const_data_ptr<float>();
    a.d_sum = call.is_stream ? nullptr : numbers_of(d_first);
    a.d_normed = call.is_stream ? numbers_of(d_first) : nullptr;
    a.d_rounded = halves_of(d_rounded);
    a.d_stream = numbers_of(d_stream);
    a.d_added = halves_of(d_added);
    a.parts = numbers_of(parts);
    call.kernels->norm_backward(kind, a);
    variable_list result(6);
    result[1] = d_stream;
    result[2] = d_added;
    if (data.count("uses") > 0) {
      StepWeights::leave_behind(data["uses"].toCapsule(), parts);
      return result;
    }
    const Tensor of_weights = parts.sum(0);
    result[3] = of_weights[0];
    if (data["bias"].toBool()) result[4] = of_weights[1];
    return result;
  }

 private:
  static norm::Kind kind_of(const NormCall& call, std::int64_t width) {
    return {.width = static_cast<int>(width), .centred = call.options.centred};
  }

  static norm::Arguments arguments_of(const NormCall& call, const Tensor& stream, const Tensor& sums,
                                      const Tensor& seed) {
    norm::Arguments a{};
    a.sums = numbers_of(sums);
    a.rows = static_cast<int>(sums.size(0));
    a.lines = static_cast<int>(stream.dim() > 2 ? sums.size(0) / stream.size(0) : 1);
    a.epsilon = static_cast<float>(call.options.epsilon);
    const Dropout dropout(call.dropout);
    a.drop_scale = dropout.scale();
    a.drop_threshold = dropout.threshold();
    a.seed = static_cast<unsigned long long>(call.seed);
    if (seed.defined()) a.seed_place = reinterpret_cast<const unsigned long long*>(seed.const_data_ptr<std::int64_t>());
    return a;
  }
};

variable_list device_norm(RowKernels& kernels, bool is_stream, const Tensor& stream, const AddedPart& added,
                          const NormWeights& weights, const NormOptions& options) {
  const auto given = [](const Tensor& x) { return x.defined() ? std::optional(x) : std::nullopt; };
  NormCall call{.kernels = &kernels,
                .options = options,
                .dropout = added.value.defined() ? added.dropout : 0,
                .seed = static_cast<std::int64_t>(added.seed),
                .seed_place = added.seed_place,
                .is_stream = is_stream};
  StepWeights* shared = StepWeights::current();
  if (shared == nullptr) {
    return DeviceNorm::apply(call, stream, given(added.value), weights.scale, given(weights.bias), std::nullopt);
  }
  const StepWeights::Use use = shared->norm(weights.scale, weights.bias);
  call.uses = use.uses;
  return DeviceNorm::apply(call, stream, given(added.value), use.weight, given(use.bias), std::optional(use.ticket));
}

}  // namespace

ResidualNorm residual_norm_by(RowKernels& kernels, const Tensor& stream, const AddedPart& added,
                              const NormWeights& weights, const NormOptions& options) {
  const variable_list made = device_norm(kernels, false, stream, added, weights, options);
  return {made.size() > 1 ? made[0] : stream, made.back()};
}

NormedStream normed_sum_by(RowKernels& kernels, const Tensor& stream, const AddedPart& added,
                           const NormWeights& weights, const NormOptions& options) {
  const variable_list made = device_norm(kernels, true, stream, added, weights, options);
  return {made[0], made[1]};
}

std::string find_norm_fault(RowKernels& kernels, torch::Device device, std::int64_t width, bool centred) {
  constexpr double kTolerance = 0.02;                               // several times the roundings of bfloat16
  at::Generator generator = at::detail::createCPUGenerator(20191);  // the run's numbers are not shifted
  const auto normal = [&](at::IntArrayRef sizes) { return torch::randn(sizes, generator).to(device); };
  const variable_list values{normal({2, 50, width}), normal({2, 50, width}).to(torch::kBFloat16), normal({width}),
                             normal({width})};
  const variable_list upstream{normal(values[0].sizes()), normal(values[0].sizes())};
  const auto results = [&](const auto& version) {
    variable_list leaves;
    for (const Tensor& value : values) leaves.push_back(value.detach().clone().set_requires_grad(true));
    const NormedStream made = version(leaves);
    variable_list all =
        torch::autograd::grad({(made.stream * upstream[0]).sum() + (made.read * upstream[1]).sum()}, leaves);
    all.insert(all.begin(), {made.stream.detach(), made.read.detach()});
    return all;
  };
  const NormOptions options{.centred = centred};
  const variable_list found = results([&](const variable_list& x) {
    return normed_sum_by(kernels, x[0], {.value = x[1]}, {.scale = x[2], .bias = x[3]}, options);
  });
  const variable_list expected = results([&](const variable_list& x) {
    return normed_sum_composed(x[0], {.value = x[1]}, {.scale = x[2], .bias = x[3]}, options);
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double off = relative_difference(found[i], expected[i]);
    if (!(off <= kTolerance)) {
      return fmt::format("{} of a norm differs by {:.3g} of its size",
                         i < 2 ? "the value" : fmt::format("gradient {}", i - 1), off);
    }
  }
  return "";
}

const char* obstacle_to_norm_kernels(const KernelCall& call) {
  if (!call.device.is_cuda()) return "the device is no GPU";
  if (call.empty) return "there is nothing to compute";
  if (call.type != torch::kFloat) return "the residual stream is not float32";
  if (!call.autocast) return "products are not bfloat16";
  if (call.width % norm::kColumnStep != 0 || call.width > norm::kMaxColumns) {
    return "rows are multiples of 64 numbers, at most 1,024, in these kernels";
  }
  return obstacle_to_row_kernels(
      call.device, fmt::format("norms {} wide", call.width), "residual-norm=libtorch", [&](RowKernels& kernels) {
        const std::string of_layers = find_norm_fault(kernels, call.device, call.width, true);
        return of_layers.empty() ? find_norm_fault(kernels, call.device, call.width, false) : of_layers;
      });
}

}  // namespace xlm
