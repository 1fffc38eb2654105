// Tensors as arguments of the GPU kernels, and the check of the kernels.
#include "core/kernels/band_attention_device.h"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/shared_library.h"
#include "core/kernels/dropout.h"
#include "core/kernels/part_of_batch.h"

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
  /// query, key, value [B, n, ·, d], position_query like query or undefined, position [n | 1, L, d].
  static Tensor forward(AutogradContext* context, BandKernels* kernels, const Form& form, const Tensor& query,
                        const std::optional<Tensor>& position_query, const Tensor& key, const Tensor& value,
                        const Tensor& position, const std::optional<Tensor>& span) {
    const variable_list in{with_aligned_rows(query),    position_query ? with_aligned_rows(*position_query) : Tensor(),
                           with_aligned_rows(key),      with_aligned_rows(value),
                           with_aligned_rows(position), span ? span->detach().to(torch::kFloat) : Tensor()};
    const Tensor out = torch::empty_like(query, query.options().requires_grad(false), torch::MemoryFormat::Contiguous);
    const Tensor sums =
        torch::empty({query.size(0), query.size(1), query.size(2), 2}, query.options().dtype(torch::kFloat));
    Tensor seed;
    if (form.dropout > 0 && SeedsOnDevice::wanted()) {
      seed = torch::randint(std::numeric_limits<std::int64_t>::max(), {1}, query.options().dtype(torch::kLong));
    }
    band::Arguments arguments = arguments_of(in, form);
    arguments.out = rows_of<band::Half>(out);
    arguments.sums = sums.data_ptr<float>();
    arguments.seed_place = place_of(seed);
    kernels->forward(kind_of(in, form), arguments, tiles_of(query), heads_of(query));
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
    const Tensor d_query = torch::empty(query.sizes(), query.options());
    const Tensor d_position_query = in[1].defined() ? torch::empty(query.sizes(), query.options()) : Tensor();
    const Tensor d_key = torch::zeros(in[2].sizes(), sums);
    const Tensor d_value = torch::zeros(in[2].sizes(), sums);
    const Tensor d_position = torch::zeros(in[4].sizes(), sums);
    const Tensor d_span = torch::empty({query.size(0), query.size(1), query.size(2), 1}, sums);
    band::Arguments arguments = arguments_of(in, form);
    arguments.out = rows_of<band::Half>(in[6]);
    arguments.sums = in[7].data_ptr<float>();
    arguments.seed_place = place_of(in[8]);
    arguments.d_out = rows_of<const band::Half>(d_out);
    arguments.d_query = rows_of<band::Half>(d_query);
    if (d_position_query.defined()) arguments.d_position_query = rows_of<band::Half>(d_position_query);
    arguments.d_key = d_key.data_ptr<float>();
    arguments.d_value = d_value.data_ptr<float>();
    arguments.d_position = positions_of<float>(d_position, form);
    arguments.d_span = d_span.data_ptr<float>();
    kernels->backward(kind_of(in, form), arguments, tiles_of(query), heads_of(query));
    variable_list result(8);
    result[2] = d_query;
    result[3] = d_position_query;
    result[4] = d_key.to(query.scalar_type());
    result[5] = d_value.to(query.scalar_type());
    result[6] = d_position.to(query.scalar_type());
    if (in[5].defined()) {
      result[7] = d_span.sum_to_size(in[5].sizes()).to(static_cast<torch::ScalarType>(data["span_type"].toInt()));
    }
    return result;
  }

 private:
  static int tiles_of(const Tensor& query) { return static_cast<int>((query.size(2) + band::kTile - 1) / band::kTile); }
  static const unsigned long long* place_of(const Tensor& seed) {
    return seed.defined() ? reinterpret_cast<const unsigned long long*>(seed.const_data_ptr<std::int64_t>()) : nullptr;
  }
  static int heads_of(const Tensor& query) { return static_cast<int>(query.size(0) * query.size(1)); }

  static band::Kind kind_of(const variable_list& in, const Form& form) {
    return {.width = static_cast<int>(in[0].size(3)),
            .two_queries = in[1].defined(),
            .masked = in[5].defined(),
            .dropped = form.dropout > 0};
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

/// |a − b| / |b|, by the 2-norm.
double difference(const Tensor& a, const Tensor& b) {
  const Tensor reference = b.to(torch::kDouble);
  return ((a.to(torch::kDouble) - reference).norm() / reference.norm()).item<double>();
}

/// The output of `attention` and the gradients of `leaves` for a given gradient of the output.
template <class Attention>
variable_list output_and_gradients(const Attention& attention, const variable_list& leaves, const Tensor& upstream) {
  const Tensor out = attention(leaves);
  variable_list all = torch::autograd::grad({out}, leaves, {upstream.to(out.scalar_type())});
  all.insert(all.begin(), out.detach());
  return all;
}

/// Runs both versions on the same leaves: the kernels in bfloat16, the plain one in float32. Names the result that
/// differs by more than roundings of bfloat16. The limit is several times the difference measured on the stand-in.
template <class Kernel, class Plain>
std::string compare(const char* what, const variable_list& values, const Kernel& kernel, const Plain& plain) {
  constexpr double kTolerance = 0.02;
  const auto leaves = [&](torch::ScalarType type) {
    variable_list result;
    for (const Tensor& value : values) {
      result.push_back(value.to(torch::kBFloat16).to(type).detach().set_requires_grad(true));
    }
    return result;
  };
  const Tensor upstream = torch::randn(values[0].sizes(), values[0].options()).to(torch::kBFloat16);
  const variable_list expected = output_and_gradients(plain, leaves(torch::kFloat), upstream);
  const variable_list actual = output_and_gradients(kernel, leaves(torch::kBFloat16), upstream);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = difference(actual[i], expected[i]);
    if (!(off <= kTolerance)) {
      return fmt::format("{} attention's {} differs by {:.3g} of its size", what,
                         i == 0 ? "value" : "gradient " + std::to_string(i), off);
    }
  }
  return "";
}

std::string fault_of_banded(BandKernels& kernels, torch::Device device) {
  const auto real = torch::TensorOptions(torch::kFloat).device(device);
  const variable_list values{torch::randn({1, 2, 80, 64}, real), torch::randn({1, 2, 180, 64}, real),
                             torch::randn({1, 2, 180, 64}, real), torch::randn({64, 100}, real),
                             torch::rand({1, 2, 80, 1}, real) * 90};
  const auto input = [](const variable_list& leaves) {
    return BandedAttentionInput{
        .query = leaves[0], .key = leaves[1], .value = leaves[2], .position = leaves[3], .span = leaves[4], .ramp = 20};
  };
  return compare(
      "banded", values, [&](const variable_list& leaves) { return banded_attention_by(kernels, input(leaves)); },
      [&](const variable_list& leaves) { return banded_attention_plain(input(leaves)); });
}

std::string fault_of_relative(BandKernels& kernels, torch::Device device) {
  const auto real = torch::TensorOptions(torch::kFloat).device(device);
  const variable_list values{torch::randn({1, 2, 150, 64}, real), torch::randn({1, 2, 150, 64}, real),
                             torch::randn({1, 2, 150, 64}, real), torch::randn({2, 150, 64}, real),
                             torch::randn({2, 64}, real),         torch::randn({2, 64}, real)};
  const auto input = [](const variable_list& leaves) {
    return RelativeAttentionInput{.query = leaves[0],
                                  .key = leaves[1],
                                  .value = leaves[2],
                                  .position = leaves[3],
                                  .content_bias = leaves[4],
                                  .position_bias = leaves[5]};
  };
  return compare(
      "relative", values, [&](const variable_list& leaves) { return relative_attention_by(kernels, input(leaves)); },
      [&](const variable_list& leaves) { return relative_attention_plain(input(leaves)); });
}

/// A GPU's kernels and the result of their check.
struct Examined {
  std::unique_ptr<BandKernels> kernels;
  std::string fault;
};

const Examined& examined(torch::Device device) {
  static std::mutex mutex;
  static std::map<int, Examined> all;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = all.try_emplace(device.index());
  Examined& found = place->second;
  if (!is_new) return found;
  try {
    using Make = BandKernels* (*)(int);
    const auto make = reinterpret_cast<Make>(library_function("libxlm_cuda.so", "xlm_make_band_kernels"));
    found.kernels.reset(make(device.index()));
    found.fault = find_fault(*found.kernels, device);
  } catch (const std::exception& error) {
    found.fault = error.what();
  }
  try {
    torch::cuda::synchronize(device.index());
  } catch (const std::exception&) {  // the device cannot compute any more
    throw Error(
        fmt::format("{} is unusable after this program's kernels of attention were tried on it: {}\nset "
                    "XLM_KERNELS=banded-attention=libtorch,relative-attention=libtorch to do without them",
                    device.str(), found.fault));
  }
  if (!found.fault.empty()) {
    TORCH_WARN("attention on ", device.str(), " is composed of libtorch's operations: ", found.fault);
  }
  return found;
}

}  // namespace

Tensor banded_attention_by(BandKernels& kernels, const BandedAttentionInput& input) {
  const torch::ScalarType type = input.query.scalar_type();
  const std::optional<Tensor> span = input.span.defined() ? std::optional(input.span) : std::nullopt;
  return BandAttention::apply(&kernels, Form{false, input.ramp, input.dropout, static_cast<std::int64_t>(input.seed)},
                              input.query, std::optional<Tensor>(), input.key.to(type), input.value.to(type),
                              input.position.to(type).t().unsqueeze(0), span);
}

Tensor relative_attention_by(BandKernels& kernels, const RelativeAttentionInput& input) {
  const torch::ScalarType type = input.query.scalar_type();
  const Tensor content = input.query + input.content_bias.unsqueeze(1).to(type);
  const Tensor position = input.query + input.position_bias.unsqueeze(1).to(type);
  return BandAttention::apply(&kernels, Form{true, 0, input.dropout, static_cast<std::int64_t>(input.seed)}, content,
                              std::optional(position), input.key.to(type), input.value.to(type),
                              input.position.to(type), std::optional<Tensor>());
}

std::string find_fault(BandKernels& kernels, torch::Device device) {
  // The first call may come while evaluating, or under autocast, which would round the plain version too.
  const torch::AutoGradMode gradients(true);
  const c10::impl::ExcludeDispatchKeyGuard exact(c10::autocast_dispatch_keyset);
  // Random numbers drawn here must not shift those of a run.
  const auto generator = at::globalContext().defaultGenerator(device);
  const Tensor state = generator.get_state();
  const std::string banded = fault_of_banded(kernels, device);
  const std::string fault = banded.empty() ? fault_of_relative(kernels, device) : banded;
  auto restored = generator;
  restored.set_state(state);
  return fault;
}

bool fits_grid(std::int64_t heads) { return heads <= 65'535; }

const char* obstacle_to_band_kernels(const KernelCall& call, bool two_queries) {
  if (!call.device.is_cuda()) return "the device is no GPU";
  if (call.type != torch::kBFloat16) return "the operands are not bfloat16";
  if (call.head_width != 64 && call.head_width != 96 && call.head_width != 128) {
    return "heads are 64, 96 or 128 wide in these kernels";
  }
  if (!fits_grid(call.heads)) return "the batch has more than 65,535 heads";
  if (at::globalContext().deterministicAlgorithms()) return "train.deterministic asks for sums in one order";
  const Examined& found = examined(call.device);
  if (!found.fault.empty()) return found.fault.c_str();
  const band::Kind largest{static_cast<int>(call.head_width), two_queries, !two_queries, true};
  return band::backward_memory(largest) <= found.kernels->shared_memory() ? nullptr
                                                                          : "a block has too little shared memory";
}

BandKernels& band_kernels_of(torch::Device device) { return *examined(device).kernels; }

std::string describe_attention(torch::Device device) {
  const Examined& found = examined(device);
  return found.fault.empty() ? "own kernels in bfloat16" : "composed: " + found.fault;
}

}  // namespace xlm
