// Linear layers in float32 on the CPU, by tiles of oneDNN's small products: nothing but the weight of the forward pass
// and a tile of the gradient is ever transposed.
//
// m rows, in and out features.
#include "core/kernels/linear.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/native/CPUBlas.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/kernels/transpose.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Tiles whose operands fit the second-level cache; measured best among 16 … 128, 128 … 1024 and 128 … 512.
constexpr std::int64_t kRows = 64;
constexpr std::int64_t kColumns = 256;
constexpr std::int64_t kInner = 512;

struct View {
  const float* data;
  std::int64_t stride;  // between rows
};

View view_of(const Tensor& matrix) { return {matrix.const_data_ptr<float>(), matrix.stride(0)}; }

/// c [rows, n] = a [rows, k] · b [k, n], or added to c.
void add_product(std::int64_t rows, std::int64_t n, std::int64_t k, View a, View b, float* c, std::int64_t stride,
                 bool add) {
  for (std::int64_t j = 0; j < n; j += kColumns) {
    for (std::int64_t q = 0; q < k; q += kInner) {
      at::native::cpublas::brgemm(rows, std::min(kColumns, n - j), std::min(kInner, k - q), a.stride, b.stride, stride,
                                  add || q > 0, a.data + q, b.data + q * b.stride + j, c + j);
    }
  }
}

/// x·b (+ bias in every row): x [m, k], b [k, n].
Tensor rows_product(const Tensor& x, const Tensor& b, const std::optional<Tensor>& bias = std::nullopt) {
  const std::int64_t m = x.size(0);
  const std::int64_t n = b.size(1);
  const Tensor out = torch::empty({m, n}, x.options().requires_grad(false));
  const float* offset = bias ? bias->const_data_ptr<float>() : nullptr;
  at::parallel_for(0, (m + kRows - 1) / kRows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin * kRows; first < std::min(m, end * kRows); first += kRows) {
      const std::int64_t rows = std::min(kRows, m - first);
      float* c = out.data_ptr<float>() + first * n;
      for (std::int64_t i = 0; offset != nullptr && i < rows; ++i) std::copy(offset, offset + n, c + i * n);
      add_product(rows, n, b.size(0), {x.const_data_ptr<float>() + first * x.stride(0), x.stride(0)}, view_of(b), c, n,
                  offset != nullptr);
    }
  });
  return out;
}

Tensor transposed(const Tensor& matrix) {
  const Tensor out = torch::empty({matrix.size(1), matrix.size(0)}, matrix.options().requires_grad(false));
  transpose(matrix.const_data_ptr<float>(), matrix.stride(0), matrix.size(0), matrix.size(1), out.data_ptr<float>(),
            out.stride(0));
  return out;
}

/// gᵀ·x: g [m, out], x [m, in].
Tensor weight_gradient(const Tensor& g, const Tensor& x) {
  const std::int64_t m = g.size(0);
  const std::int64_t features = g.size(1);
  const Tensor out = torch::empty({features, x.size(1)}, x.options().requires_grad(false));
  // Enough tiles for all threads also where there are few features.
  const std::int64_t tile = std::clamp<std::int64_t>((features + at::get_num_threads() - 1) / at::get_num_threads(),
                                                     std::min<std::int64_t>(features, 16), kRows);
  at::parallel_for(0, (features + tile - 1) / tile, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> g_t(static_cast<std::size_t>(tile * kInner));
    for (std::int64_t first = begin * tile; first < std::min(features, end * tile); first += tile) {
      const std::int64_t rows = std::min(tile, features - first);
      for (std::int64_t q = 0; q < m; q += kInner) {
        const std::int64_t count = std::min(kInner, m - q);
        transpose(g.const_data_ptr<float>() + q * g.stride(0) + first, g.stride(0), count, rows, g_t.data(), kInner);
        add_product(rows, x.size(1), count, {g_t.data(), kInner},
                    {x.const_data_ptr<float>() + q * x.stride(0), x.stride(0)},
                    out.data_ptr<float>() + first * x.size(1), x.size(1), q > 0);
      }
    }
  });
  return out;
}

/// [..., n] → [m, n] with elements of a row side by side.
Tensor as_rows(const Tensor& x) {
  const Tensor rows = x.reshape({-1, x.size(-1)});
  return rows.stride(1) == 1 || rows.size(1) == 1 ? rows : rows.contiguous();
}

class Linear : public torch::autograd::Function<Linear> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    const Tensor rows = as_rows(x);
    context->save_for_backward({rows, weight});
    context->saved_data["shape"] = x.sizes().vec();
    context->saved_data["bias"] = bias.has_value();
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = weight.size(0);
    return rows_product(rows, transposed(weight), bias).view(shape);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const Tensor gradient = as_rows(upstream[0]);  // [m, out]
    variable_list result(3);
    if (context->needs_input_grad(0)) {
      result[0] = rows_product(gradient, saved[1]).view(context->saved_data["shape"].toIntVector());
    }
    if (context->needs_input_grad(1)) result[1] = weight_gradient(gradient, saved[0]);
    if (context->saved_data["bias"].toBool()) result[2] = gradient.sum(0);
    return result;
  }
};

class Affine : public torch::autograd::Function<Affine> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight, const Tensor& bias) {
    const Tensor rows = as_rows(x);
    context->save_for_backward({rows, weight});
    context->saved_data["shape"] = x.sizes().vec();
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = weight.size(1);
    return rows_product(rows, weight, bias).view(shape);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const Tensor gradient = as_rows(upstream[0]);  // [m, out]
    variable_list result(3);
    if (context->needs_input_grad(0)) {
      result[0] = rows_product(gradient, transposed(saved[1])).view(context->saved_data["shape"].toIntVector());
    }
    if (context->needs_input_grad(1)) result[1] = weight_gradient(saved[0], gradient);
    if (context->needs_input_grad(2)) result[2] = gradient.sum(0);
    return result;
  }
};

class LinearWithPast : public torch::autograd::Function<LinearWithPast> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& seen, const Tensor& block, const Tensor& weight) {
    const Tensor rows = as_rows(seen);
    context->save_for_backward({rows, weight});
    context->saved_data["block"] = block.size(1);
    return rows_product(rows, transposed(weight)).view({seen.size(0), seen.size(1), weight.size(0)});
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const std::int64_t block = context->saved_data["block"].toInt();
    const Tensor& gradient = upstream[0];  // [B, T, out]
    variable_list result(3);
    if (context->needs_input_grad(1)) {
      const Tensor of_block = as_rows(gradient.narrow(1, gradient.size(1) - block, block));
      result[1] = rows_product(of_block, saved[1]).view({gradient.size(0), block, saved[1].size(1)});
    }
    if (context->needs_input_grad(2)) result[2] = weight_gradient(as_rows(gradient), saved[0]);
    return result;
  }
};

bool has_kernel(const Tensor& x, const Tensor& weight) {
  const bool single = x.scalar_type() == torch::kFloat && weight.scalar_type() == torch::kFloat;
  return single && x.device().is_cpu() && x.numel() > 0 && !at::autocast::is_autocast_enabled(torch::kCPU);
}

/// Fewer rows than this read the weight once whatever is done, and a transposed copy would cost more than the product.
constexpr std::int64_t kFewRows = 8;

bool has_few_rows(const Tensor& x) { return x.numel() < kFewRows * x.size(-1); }

}  // namespace

Tensor linear_layer(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!has_kernel(x, weight) || has_few_rows(x)) return torch::linear(x, weight, bias);
  return Linear::apply(x, weight.contiguous(), bias.defined() ? std::optional(bias.contiguous()) : std::nullopt);
}

Tensor affine_layer(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (!has_kernel(x, weight) || has_few_rows(x)) return torch::linear(x, weight.t(), bias);
  return Affine::apply(x, weight.contiguous(), bias.contiguous());
}

Tensor linear_layer_with_past(const Tensor& seen, const Tensor& block, const Tensor& weight) {
  if (has_kernel(seen, weight)) return LinearWithPast::apply(seen, block, weight.contiguous());
  return torch::linear(torch::cat({seen.narrow(1, 0, seen.size(1) - block.size(1)), block}, 1), weight);
}

}  // namespace xlm
