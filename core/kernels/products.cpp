// Matrix products over all threads.
#include "core/kernels/products.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace xlm {
namespace {

using torch::Tensor;

constexpr std::int64_t kTileRows = 128;  // more rows read the right operand less often

/// Calls f(first row, rows) for tiles of one size, as many for every thread.
template <class F>
void for_each_tile(std::int64_t rows, const F& f) {
  const std::int64_t threads = at::get_num_threads();
  const std::int64_t tiles = (rows + kTileRows * threads - 1) / (kTileRows * threads) * threads;
  const std::int64_t tile = std::max<std::int64_t>((rows + tiles - 1) / tiles, std::min<std::int64_t>(rows, 16));
  at::parallel_for(0, (rows + tile - 1) / tile, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i * tile, std::min(tile, rows - i * tile));
  });
}

Tensor empty_result(std::int64_t rows, std::int64_t columns, const Tensor& like) {
  return torch::empty({rows, columns}, like.options().requires_grad(false));
}

}  // namespace

void rows_product(const Tensor& x, const PackedRight& b, const std::optional<Tensor>& bias, const Tensor& out) {
  const std::int64_t n = b.columns();
  const float* offset = bias ? bias->const_data_ptr<float>() : nullptr;
  for_each_tile(x.size(0), [&](std::int64_t first, std::int64_t rows) {
    float* c = out.data_ptr<float>() + first * n;
    for (std::int64_t i = 0; offset != nullptr && i < rows; ++i) std::copy(offset, offset + n, c + i * n);
    b.product(rows, {x.const_data_ptr<float>() + first * x.stride(0), x.stride(0), 1}, c, n, offset != nullptr);
  });
}

Tensor rows_product(const Tensor& x, const PackedRight& b, const std::optional<Tensor>& bias) {
  const Tensor out = empty_result(x.size(0), b.columns(), x);
  rows_product(x, b, bias, out);
  return out;
}

void weight_gradient(const Tensor& g, const Tensor& x, const Tensor& out, bool add) {
  const PackedRight right(x);
  const std::int64_t width = x.size(1);
  for_each_tile(g.size(1), [&](std::int64_t first, std::int64_t rows) {
    right.product(rows, {g.const_data_ptr<float>() + first, 1, g.stride(0)}, out.data_ptr<float>() + first * width,
                  width, add);
  });
}

Tensor weight_gradient(const Tensor& g, const Tensor& x) {
  const Tensor out = empty_result(g.size(1), x.size(1), x);
  weight_gradient(g, x, out, false);
  return out;
}

}  // namespace xlm
