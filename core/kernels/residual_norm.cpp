// A residual stream, what a layer adds to it, and the norm of the sum: each row is read once.
//
// k width; s the sum; x̂ = (s − mean) · inverse the row before the scale, where root mean square has no mean.
#include "core/kernels/residual_norm.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/kernels/dropout.h"
#include "core/kernels/kernel_table.h"
#include "core/kernels/mixed_product.h"
#include "core/kernels/norm_device.h"
#include "core/kernels/packed_operands.h"
#include "core/kernels/simd.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kThreadNumbers = 1 << 14;  // fewer are not worth another thread

struct NormSums {
  float mean = 0, inverse = 0;
};

/// How a norm of rows of `width` numbers is computed.
struct NormLoops {
  NormLoops(const NormOptions& options, std::int64_t k)
      : width(k), centred(options.centred), epsilon(static_cast<float>(options.epsilon)) {}

  std::int64_t width;
  bool centred;
  float epsilon;
};

/// `normed`: x̂ · scale. If `added` is given, `sum` is where s is written; otherwise s is `stream`.
template <int n, class Added>
XLM_SIMD_INLINE NormSums norm_of_sum_of(const float* stream, const Added* added, const float* scale,
                                        const NormLoops& loops, float* sum, float* normed) {
  const std::int64_t width = loops.width;
  const float* s = added == nullptr ? stream : sum;
  Vector<float, n> total{};
  for (std::int64_t j = 0; j < width; j += n) {
    Vector<float, n> number = load<n>(stream + j, width - j, 0.0F);
    if (added != nullptr) {
      number += load_numbers<n>(added + j, width - j);
      store<n>(number, width - j, sum + j);
    }
    total += loops.centred ? number : number * number;
  }
  const auto count = static_cast<float>(width);
  NormSums sums;
  float square = sum_of_lanes(total) / count;
  if (loops.centred) {
    sums.mean = square;
    Vector<float, n> squares{};
    for (std::int64_t j = 0; j < width; j += n) {
      const Vector<float, n> rest = load<n>(s + j, width - j, sums.mean) - sums.mean;
      squares += rest * rest;
    }
    square = sum_of_lanes(squares) / count;
  }
  sums.inverse = 1.0F / std::sqrt(square + loops.epsilon);
  for (std::int64_t j = 0; j < width; j += n) {
    const Vector<float, n> rest = (load<n>(s + j, width - j, 0.0F) - sums.mean) * sums.inverse;
    store<n>(rest * load<n>(scale + j, width - j, 0.0F), width - j, normed + j);
  }
  return sums;
}

/// `gradient` of s: that of the sum, if it is given, plus that of the norm. Adds the row's part to `d_scale`.
template <int n, class Normed>
XLM_SIMD_INLINE void norm_gradients_of(const float* s, const float* scale, const NormSums& sums, const float* d_sum,
                                       const Normed* d_normed, const NormLoops& loops, float* gradient,
                                       float* d_scale) {
  const std::int64_t width = loops.width;
  Vector<float, n> total{};  // Σ gradient of x̂
  Vector<float, n> along{};  // Σ gradient of x̂ · x̂
  for (std::int64_t j = 0; j < width; j += n) {
    const Vector<float, n> rest = (load<n>(s + j, width - j, sums.mean) - sums.mean) * sums.inverse;
    const Vector<float, n> upstream = load_numbers<n>(d_normed + j, width - j);
    const Vector<float, n> of_rest = upstream * load<n>(scale + j, width - j, 0.0F);
    total += of_rest;
    along += of_rest * rest;
    store<n>(load<n>(d_scale + j, width - j, 0.0F) + upstream * rest, width - j, d_scale + j);
  }
  const auto count = static_cast<float>(width);
  const float mean = loops.centred ? sum_of_lanes(total) / count : 0.0F;
  const float slope = sum_of_lanes(along) / count;
  for (std::int64_t j = 0; j < width; j += n) {
    const Vector<float, n> rest = (load<n>(s + j, width - j, sums.mean) - sums.mean) * sums.inverse;
    const Vector<float, n> of_rest = load_numbers<n>(d_normed + j, width - j) * load<n>(scale + j, width - j, 0.0F);
    Vector<float, n> of_sum = (of_rest - mean - rest * slope) * sums.inverse;
    if (d_sum != nullptr) of_sum += load<n>(d_sum + j, width - j, 0.0F);
    store<n>(of_sum, width - j, gradient + j);
  }
}

XLM_SIMD_VERSIONS(NormSums, norm_of_sum,
                  (const float* stream, const float* added, const float* scale, const NormLoops& loops, float* sum,
                   float* normed),
                  (stream, added, scale, loops, sum, normed))
XLM_SIMD_VERSIONS(NormSums, norm_of_sum,
                  (const float* stream, const Bfloat16* added, const float* scale, const NormLoops& loops, float* sum,
                   float* normed),
                  (stream, added, scale, loops, sum, normed))
XLM_SIMD_VERSIONS(void, norm_gradients,
                  (const float* s, const float* scale, const NormSums& sums, const float* d_sum, const float* d_normed,
                   const NormLoops& loops, float* gradient, float* d_scale),
                  (s, scale, sums, d_sum, d_normed, loops, gradient, d_scale))
XLM_SIMD_VERSIONS(void, norm_gradients,
                  (const float* s, const float* scale, const NormSums& sums, const float* d_sum,
                   const Bfloat16* d_normed, const NormLoops& loops, float* gradient, float* d_scale),
                  (s, scale, sums, d_sum, d_normed, loops, gradient, d_scale))

/// Calls work(first row, end row) in all threads.
template <class F>
void for_each_part(std::int64_t rows, std::int64_t width, const F& work) {
  at::parallel_for(0, rows, std::max<std::int64_t>(1, kThreadNumbers / width), work);
}

/// f(a null pointer to T), of the type of x.
template <class F>
void with_number_type(const Tensor& x, const F& f) {
  if (x.scalar_type() == torch::kBFloat16) {
    f(static_cast<const Bfloat16*>(nullptr));
  } else {
    f(static_cast<const float*>(nullptr));
  }
}

Tensor like(const Tensor& x, torch::ScalarType type) { return torch::empty(x.sizes(), torch::TensorOptions(type)); }

class FusedResidualNorm : public torch::autograd::Function<FusedResidualNorm> {
 public:
  /// {norm, sum}, without the sum if nothing is added.
  static variable_list forward(AutogradContext* context, const Tensor& given, const std::optional<Tensor>& added,
                               const Tensor& scale, const NormOptions& options, torch::ScalarType type) {
    const Tensor stream = given.contiguous();
    const Tensor more = added ? added->contiguous() : Tensor();
    const NormLoops loops(options, stream.size(-1));
    const std::int64_t rows = stream.numel() / loops.width;
    const Tensor sum = added ? like(stream, torch::kFloat) : stream;
    Tensor normed = like(stream, type);
    const Tensor sums = torch::empty({rows, 2}, torch::kFloat);
    with_number_type(added ? more : stream, [&](const auto* kind) {
      using Added = std::remove_const_t<std::remove_pointer_t<decltype(kind)>>;
      with_number_type(normed, [&](const auto* other) {
        using Normed = std::remove_const_t<std::remove_pointer_t<decltype(other)>>;
        forward_rows<Added, Normed>(stream, more, scale.contiguous(), loops, sum, normed, sums);
      });
    });
    context->save_for_backward({sum, scale, sums});
    context->saved_data["centred"] = options.centred;
    context->saved_data["added"] = added ? added->scalar_type() : torch::ScalarType::Undefined;
    if (!added) return {normed};
    return {normed, sum};
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const auto type = context->saved_data["added"].toScalarType();
    const NormLoops loops({.centred = context->saved_data["centred"].toBool()}, saved[0].size(-1));
    const Tensor d_normed = upstream[0].contiguous();
    const Tensor d_sum = upstream.size() > 1 ? upstream[1].contiguous() : Tensor();
    const Tensor gradient = like(saved[0], torch::kFloat);
    Tensor d_added = type == torch::kBFloat16 ? like(saved[0], type) : Tensor();
    Tensor d_scale;
    with_number_type(d_normed, [&](const auto* kind) {
      using Normed = std::remove_const_t<std::remove_pointer_t<decltype(kind)>>;
      d_scale = backward_rows<Normed>(saved, d_sum, d_normed, loops, gradient, d_added);
    });
    if (type == torch::kFloat) d_added = gradient;
    return {gradient, d_added, d_scale, Tensor(), Tensor()};
  }

 private:
  template <class Added, class Normed>
  static void forward_rows(const Tensor& stream, const Tensor& added, const Tensor& scale, const NormLoops& loops,
                           const Tensor& sum, const Tensor& normed, const Tensor& sums) {
    const float* from = stream.const_data_ptr<float>();
    const Added* more = added.defined() ? added.const_data_ptr<Added>() : nullptr;
    const float* factors = scale.const_data_ptr<float>();
    float* total = added.defined() ? sum.data_ptr<float>() : nullptr;
    Normed* to = normed.data_ptr<Normed>();
    auto* of_rows = sums.data_ptr<float>();
    for_each_part(sums.size(0), loops.width, [&](std::int64_t begin, std::int64_t end) {
      std::vector<float> buffer(static_cast<std::size_t>(loops.width));
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t at = row * loops.width;
        float* numbers = sums_for(to + at, buffer.data());
        const NormSums found = norm_of_sum(from + at, more == nullptr ? nullptr : more + at, factors, loops,
                                           total == nullptr ? nullptr : total + at, numbers);
        store_left(numbers, loops.width, to + at);
        of_rows[2 * row] = found.mean;
        of_rows[2 * row + 1] = found.inverse;
      }
    });
  }

  /// Fills `gradient` of the sum, and `d_added` if that is another tensor. Returns the gradient of the scale.
  template <class Normed>
  static Tensor backward_rows(const variable_list& saved, const Tensor& d_sum, const Tensor& d_normed,
                              const NormLoops& loops, const Tensor& gradient, const Tensor& d_added) {
    const float* s = saved[0].const_data_ptr<float>();
    const Tensor scale = saved[1].contiguous();
    const auto* of_rows = saved[2].const_data_ptr<float>();
    const float* upstream = d_sum.defined() ? d_sum.const_data_ptr<float>() : nullptr;
    const Normed* of_normed = d_normed.const_data_ptr<Normed>();
    float* to = gradient.data_ptr<float>();
    Bfloat16* rounded = d_added.defined() ? d_added.data_ptr<Bfloat16>() : nullptr;
    const Tensor parts = torch::zeros({at::get_num_threads(), loops.width}, torch::kFloat);
    for_each_part(saved[2].size(0), loops.width, [&](std::int64_t begin, std::int64_t end) {
      float* d_scale = parts.data_ptr<float>() + at::get_thread_num() * loops.width;
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t at = row * loops.width;
        norm_gradients(s + at, scale.const_data_ptr<float>(), {of_rows[2 * row], of_rows[2 * row + 1]},
                       upstream == nullptr ? nullptr : upstream + at, of_normed + at, loops, to + at, d_scale);
        if (rounded != nullptr) to_bfloat16(to + at, loops.width, rounded + at);
      }
    });
    return parts.sum(0);
  }
};

}  // namespace

Tensor norm_of(const Tensor& x, const Tensor& scale, const NormOptions& options) {
  if (options.centred) return torch::layer_norm(x, scale.sizes(), scale, {}, options.epsilon);
  return torch::rms_norm(x, scale.sizes(), scale, options.epsilon);
}

ResidualNorm residual_norm_composed(const Tensor& stream, const Tensor& added, const Tensor& scale,
                                    const NormOptions& options) {
  const Tensor sum = added.defined() ? stream + added : stream;
  return {sum, norm_of(sum, scale, options)};
}

ResidualNorm residual_norm_fused(const Tensor& stream, const Tensor& added, const Tensor& scale,
                                 const NormOptions& options) {
  const variable_list made = FusedResidualNorm::apply(stream, added.defined() ? std::optional(added) : std::nullopt,
                                                      scale, options, type_of_products(scale));
  return {made.size() > 1 ? made[1] : stream, made[0]};
}

NormedStream normed_sum_composed(const Tensor& stream, const AddedPart& added, const NormWeights& weights,
                                 const NormOptions& options) {
  const Tensor sum = stream + place_dropout(added.value, added.dropout, added.seed);
  Tensor normed = options.centred
                      ? torch::layer_norm(sum, weights.scale.sizes(), weights.scale, weights.bias, options.epsilon)
                      : norm_of(sum, weights.scale, options);
  if (!options.centred && weights.bias.defined()) normed = normed + weights.bias;
  return {normed, normed};
}

namespace {

/// The version for a call that adds `added` to `stream`. The GPU's kernels take what products in bfloat16 return.
KernelVersion choose_norm(const Tensor& stream, const Tensor& added, const Tensor& scale) {
  KernelCall call = kernel_call(stream);
  call.width = stream.size(-1);
  const bool rounded = !added.defined() || added.scalar_type() == torch::kBFloat16;
  if (call.device.is_cuda() && (!rounded || scale.scalar_type() != torch::kFloat)) call.autocast = false;
  return choose_kernel(Operation::kResidualNorm, call);
}

}  // namespace

ResidualNorm residual_norm(const Tensor& stream, const Tensor& added, const Tensor& scale, const NormOptions& options) {
  switch (choose_norm(stream, added, scale)) {
    case KernelVersion::kOwn:
      return residual_norm_fused(stream, added, scale, options);
    case KernelVersion::kGpu:
      return residual_norm_by(row_kernels_of(stream.device()), stream, {.value = added}, {.scale = scale}, options);
    default:
      return residual_norm_composed(stream, added, scale, options);
  }
}

std::optional<ResidualNorm> residual_norm_on_gpu(const Tensor& stream, const AddedPart& added,
                                                 const NormWeights& weights, const NormOptions& options) {
  if (choose_norm(stream, added.value, weights.scale) != KernelVersion::kGpu) return std::nullopt;
  return residual_norm_by(row_kernels_of(stream.device()), stream, added, weights, options);
}

NormedStream normed_sum(const Tensor& stream, const AddedPart& added, const NormWeights& weights,
                        const NormOptions& options) {
  if (choose_norm(stream, added.value, weights.scale) == KernelVersion::kGpu) {
    return normed_sum_by(row_kernels_of(stream.device()), stream, added, weights, options);
  }
  return normed_sum_composed(stream, added, weights, options);
}

}  // namespace xlm
