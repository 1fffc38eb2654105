// Tensors as arguments of the GPU kernels.
#include "core/kernels/band_attention_device.h"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/kernels/dropout.h"
#include "core/kernels/step_context.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The layout of keys and positions, and the dropout.
struct Form {
  bool relative = false;  // keys belong to the queries themselves, positions begin at distance 0
  double ramp = 0;
  double dropout = 0;
  std::int64_t seed = 0;
};

/// `x` [B, n, rows, d], or a copy, with contiguous rows that are aligned to 16 bytes.
Tensor with_aligned_rows(const Tensor& x) {
  bool fits = x.stride(-1) == 1 && reinterpret_cast<std::uintptr_t>(x.const_data_ptr()) % 16 == 0;
  for (std::int64_t i = 0; i + 1 < x.dim(); ++i) fits = fits && x.stride(i) % 8 == 0;
  return fits ? x : x.clone(torch::MemoryFormat::Contiguous);
}

/// A new tensor [B, n, rows, d] whose memory is [B, rows, n, d], so that heads are side by side, as layers write and
/// read them.
Tensor heads_side_by_side(at::IntArrayRef sizes, const torch::TensorOptions& options) {
  return torch::empty({sizes[0], sizes[2], sizes[1], sizes[3]}, options).transpose(1, 2);
}

/// `count` such tensors in one memory [B, rows, count, n, d], which unbind_joined knows.
std::vector<Tensor> joined_heads(std::int64_t count, at::IntArrayRef sizes, const torch::TensorOptions& options) {
  std::vector<Tensor> parts = torch::empty({sizes[0], sizes[2], count, sizes[1], sizes[3]}, options).unbind(2);
  for (Tensor& part : parts) part = part.transpose(1, 2);
  return parts;
}

template <class T>
band::Rows<T> rows_of(const Tensor& x) {
  using Value = std::conditional_t<std::is_same_v<std::remove_const_t<T>, float>, float, c10::BFloat16>;
  return {reinterpret_cast<T*>(x.data_ptr<Value>()), x.stride(0), x.stride(1), x.stride(2)};
}

/// Positions [n | 1, L, d] by column of the band; those of relative attention by distance, the largest last.
template <class T>
band::Rows<T> positions_of(const Tensor& x, const Form& form) {
  using Value = std::conditional_t<std::is_same_v<std::remove_const_t<T>, float>, float, c10::BFloat16>;
  auto* data = reinterpret_cast<T*>(x.data_ptr<Value>());
  const std::int64_t head = x.size(0) > 1 ? x.stride(0) : 0;
  if (form.relative) return {data + (x.size(1) - 1) * x.stride(1), 0, head, -x.stride(1)};
  return {data, 0, head, x.stride(1)};
}

class BandAttention : public torch::autograd::Function<BandAttention> {
 public:
  /// query, key, value [B, n, ·, d], position [n | 1, L, d], and of relative attention the biases [n, d] of queries for
  /// content and for positions.
  static Tensor forward(AutogradContext* context, BandKernels* kernels, const Form& form, const Tensor& query,
                        const std::optional<Tensor>& content_bias, const std::optional<Tensor>& position_bias,
                        const Tensor& key, const Tensor& value, const Tensor& position,
                        const std::optional<Tensor>& span) {
    const auto with_bias = [&](const Tensor& bias) { return query + bias.to(query.scalar_type()).unsqueeze(1); };
    const variable_list in{with_aligned_rows(form.relative ? with_bias(*content_bias) : query),
                           form.relative ? with_aligned_rows(with_bias(*position_bias)) : Tensor(),
                           with_aligned_rows(key),
                           with_aligned_rows(value),
                           with_aligned_rows(position),
                           span ? span->detach().to(torch::kFloat) : Tensor()};
    const Tensor out = heads_side_by_side(query.sizes(), query.options().requires_grad(false));
    const Tensor sums =
        torch::empty({query.size(0), query.size(1), query.size(2), 2}, query.options().dtype(torch::kFloat));
    Tensor seed;
    if (form.dropout > 0 && step_context().seeds_on_device) {
      seed = torch::randint(std::numeric_limits<std::int64_t>::max(), {1}, query.options().dtype(torch::kLong));
    }
    band::Arguments arguments = arguments_of(in, form);
    arguments.out = rows_of<band::Half>(out);
    arguments.sums = sums.data_ptr<float>();
    arguments.seed_place = place_of(seed);
    kernels->forward(kind_of(*kernels, in, form), arguments, heads_of(query));
    variable_list saved = in;
    saved.push_back(out);
    saved.push_back(sums);
    saved.push_back(seed);
    context->save_for_backward(saved);
    context->saved_data["relative"] = form.relative;
    context->saved_data["ramp"] = form.ramp;
    context->saved_data["dropout"] = form.dropout;
    context->saved_data["seed"] = form.seed;
    context->saved_data["kernels"] = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(kernels));
    if (form.relative) context->saved_data["bias_type"] = static_cast<std::int64_t>(content_bias->scalar_type());
    if (span) context->saved_data["span_type"] = static_cast<std::int64_t>(span->scalar_type());
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    auto& data = context->saved_data;
    const Form form{data["relative"].toBool(), data["ramp"].toDouble(), data["dropout"].toDouble(),
                    data["seed"].toInt()};
    auto* kernels = reinterpret_cast<BandKernels*>(static_cast<std::intptr_t>(data["kernels"].toInt()));
    const variable_list in = context->get_saved_variables();
    const Tensor& query = in[0];
    const torch::TensorOptions sums = query.options().dtype(torch::kFloat);
    const Tensor d_out = with_aligned_rows(upstream[0]);
    const Tensor d_query = heads_side_by_side(query.sizes(), query.options());
    const Tensor d_position_query = in[1].defined() ? heads_side_by_side(query.sizes(), query.options()) : Tensor();
    std::vector<Tensor> joined = joined_heads(form.relative ? 3 : 2, in[2].sizes(), query.options());
    const Tensor& d_key = joined[joined.size() - 2];
    const Tensor& d_value = joined.back();
    const Tensor d_position = torch::zeros(in[4].sizes(), sums);
    const Tensor d_span = torch::empty({query.size(0), query.size(1), query.size(2), 1}, sums);
    const Tensor numbers = torch::empty({query.size(0), query.size(1), query.size(2), band::kQueryNumbers}, sums);
    band::Arguments arguments = arguments_of(in, form);
    arguments.out = rows_of<band::Half>(in[6]);
    arguments.sums = in[7].data_ptr<float>();
    arguments.seed_place = place_of(in[8]);
    arguments.d_out = rows_of<const band::Half>(d_out);
    arguments.d_query = rows_of<band::Half>(d_query);
    if (d_position_query.defined()) arguments.d_position_query = rows_of<band::Half>(d_position_query);
    arguments.d_key = rows_of<band::Half>(d_key);
    arguments.d_value = rows_of<band::Half>(d_value);
    arguments.d_position = positions_of<float>(d_position, form);
    arguments.d_span = d_span.data_ptr<float>();
    arguments.numbers = numbers.data_ptr<float>();
    kernels->backward(kind_of(*kernels, in, form), arguments, heads_of(query));
    variable_list result(9);
    if (form.relative) {
      result[2] = at::add_out(joined[0], d_query, d_position_query);
      const auto type = static_cast<torch::ScalarType>(data["bias_type"].toInt());
      result[3] = d_query.sum(at::IntArrayRef({0, 2}), false, type);
      result[4] = d_position_query.sum(at::IntArrayRef({0, 2}), false, type);
    } else {
      result[2] = d_query;
    }
    result[5] = d_key;
    result[6] = d_value;
    result[7] = d_position.to(query.scalar_type());
    if (in[5].defined()) {
      result[8] = d_span.sum_to_size(in[5].sizes()).to(static_cast<torch::ScalarType>(data["span_type"].toInt()));
    }
    return result;
  }

 private:
  static const unsigned long long* place_of(const Tensor& seed) {
    return seed.defined() ? reinterpret_cast<const unsigned long long*>(seed.const_data_ptr<std::int64_t>()) : nullptr;
  }
  static int heads_of(const Tensor& query) { return static_cast<int>(query.size(0) * query.size(1)); }

  static band::Kind kind_of(const BandKernels& kernels, const variable_list& in, const Form& form) {
    return band::fitting({.width = static_cast<int>(in[0].size(3)),
                          .two_queries = in[1].defined(),
                          .masked = in[5].defined(),
                          .dropped = form.dropout > 0},
                         kernels.shared_memory());
  }

  static band::Arguments arguments_of(const variable_list& in, const Form& form) {
    band::Arguments a{};
    a.query = rows_of<const band::Half>(in[0]);
    if (in[1].defined()) a.position_query = rows_of<const band::Half>(in[1]);
    a.key = rows_of<const band::Half>(in[2]);
    a.value = rows_of<const band::Half>(in[3]);
    a.position = positions_of<const band::Half>(in[4], form);
    if (in[5].defined()) {
      const Tensor spans = in[5].expand({in[0].size(0), in[0].size(1), in[0].size(2), 1});
      a.span = rows_of<const float>(spans);
    }
    a.heads = static_cast<int>(in[0].size(1));
    a.queries = static_cast<int>(in[0].size(2));
    a.keys = static_cast<int>(in[2].size(2));
    a.band = static_cast<int>(in[4].size(1));
    a.key_offset = form.relative ? a.band - 1 : 0;
    a.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(in[0].size(3))));
    a.ramp = static_cast<float>(form.ramp);
    const Dropout dropout(form.dropout);
    a.drop_scale = dropout.scale();
    a.drop_threshold = dropout.threshold();
    a.drop_by_key = form.relative;
    a.seed = static_cast<unsigned long long>(form.seed);
    return a;
  }
};

}  // namespace

Tensor banded_attention_by(BandKernels& kernels, const BandedAttentionInput& input) {
  const torch::ScalarType type = input.query.scalar_type();
  const std::optional<Tensor> span = input.span.defined() ? std::optional(input.span) : std::nullopt;
  return BandAttention::apply(&kernels, Form{false, input.ramp, input.dropout, static_cast<std::int64_t>(input.seed)},
                              input.query, std::optional<Tensor>(), std::optional<Tensor>(), input.key.to(type),
                              input.value.to(type), input.position.to(type).t().unsqueeze(0), span);
}

Tensor relative_attention_by(BandKernels& kernels, const RelativeAttentionInput& input) {
  const torch::ScalarType type = input.query.scalar_type();
  return BandAttention::apply(&kernels, Form{true, 0, input.dropout, static_cast<std::int64_t>(input.seed)},
                              input.query, std::optional(input.content_bias), std::optional(input.position_bias),
                              input.key.to(type), input.value.to(type), input.position.to(type),
                              std::optional<Tensor>());
}

}  // namespace xlm
