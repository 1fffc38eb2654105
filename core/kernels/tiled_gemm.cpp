// Tiled matrix products.
#include "core/kernels/tiled_gemm.h"

#include <ATen/Parallel.h>
#include <ATen/native/CPUBlas.h>

#include <algorithm>
#include <vector>

#include "core/kernels/transpose.h"

namespace xlm {
namespace {

using torch::Tensor;

/// A product of rows × inner by inner × columns, whose operands fit the second-level cache.
struct Tile {
  std::int64_t rows, columns, inner;
};
// With many rows a large right operand, such as the symbols of GPT-2, is read less often from beyond that cache.
// Measured as best among 64 … 256, 64 … 256 and 256 … 1024. Gradients copy a tile of their left operand first.
constexpr Tile kTile{256, 128, 256};
constexpr Tile kGradientTile{64, 256, 512};
constexpr std::int64_t kOwnRows = 128;       // of our blocks: with more the right operand is read less often
constexpr std::int64_t kTransposed = 65536;  // elements: fewer are not worth another thread

struct View {
  const float* data;
  std::int64_t stride;  // between rows
};

View view_of(const Tensor& matrix) { return {matrix.const_data_ptr<float>(), matrix.stride(0)}; }

/// c [rows, n] = a [rows, k] · b [k, n], or added to c, in pieces of a tile's columns and inner dimension.
void add_product(const Tile& tile, std::int64_t rows, std::int64_t n, std::int64_t k, View a, View b, float* c,
                 std::int64_t stride, bool add) {
  for (std::int64_t j = 0; j < n; j += tile.columns) {
    for (std::int64_t q = 0; q < k; q += tile.inner) {
      at::native::cpublas::brgemm(rows, std::min(tile.columns, n - j), std::min(tile.inner, k - q), a.stride, b.stride,
                                  stride, add || q > 0, a.data + q, b.data + q * b.stride + j, c + j);
    }
  }
}

/// The rows of a tile, at most `most`, so that all threads have equally many tiles of one size.
std::int64_t tile_for_threads(std::int64_t rows, std::int64_t most) {
  const std::int64_t threads = at::get_num_threads();
  const std::int64_t tiles = (rows + most * threads - 1) / (most * threads) * threads;
  return std::max<std::int64_t>((rows + tiles - 1) / tiles, std::min<std::int64_t>(rows, 16));
}

/// A transposed copy.
Tensor transposed(const Tensor& matrix) {
  const Tensor out = torch::empty({matrix.size(1), matrix.size(0)}, matrix.options().requires_grad(false));
  const std::int64_t grain = std::max<std::int64_t>(1, kTransposed / std::max<std::int64_t>(1, matrix.size(1)));
  at::parallel_for(0, matrix.size(0), grain, [&](std::int64_t begin, std::int64_t end) {
    transpose(matrix.const_data_ptr<float>() + begin * matrix.stride(0), matrix.stride(0), end - begin, matrix.size(1),
              out.data_ptr<float>() + begin, out.stride(0));
  });
  return out;
}

}  // namespace

RightMatrix::RightMatrix(const Tensor& b, bool across) : columns(b.size(across ? 0 : 1)) {
  if (uses_register_gemm()) {
    packed.emplace(b, across);
  } else {
    plain = across ? transposed(b) : b;
  }
}

void rows_product(const Tensor& x, const RightMatrix& b, const std::optional<Tensor>& bias, const Tensor& out) {
  const std::int64_t m = x.size(0);
  const std::int64_t n = b.columns;
  const float* offset = bias ? bias->const_data_ptr<float>() : nullptr;
  const std::int64_t tile = tile_for_threads(m, b.packed ? kOwnRows : kTile.rows);
  at::parallel_for(0, (m + tile - 1) / tile, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin * tile; first < std::min(m, end * tile); first += tile) {
      const std::int64_t rows = std::min(tile, m - first);
      const View from{x.const_data_ptr<float>() + first * x.stride(0), x.stride(0)};
      float* c = out.data_ptr<float>() + first * n;
      for (std::int64_t i = 0; offset != nullptr && i < rows; ++i) std::copy(offset, offset + n, c + i * n);
      if (b.packed) {
        b.packed->product(rows, {from.data, from.stride, 1}, c, n, offset != nullptr);
      } else {
        add_product(kTile, rows, n, x.size(1), from, view_of(b.plain), c, n, offset != nullptr);
      }
    }
  });
}

Tensor rows_product(const Tensor& x, const RightMatrix& b, const std::optional<Tensor>& bias) {
  const Tensor out = torch::empty({x.size(0), b.columns}, x.options().requires_grad(false));
  rows_product(x, b, bias, out);
  return out;
}

void weight_gradient(const Tensor& g, const Tensor& x, const Tensor& out, bool add) {
  const std::int64_t m = g.size(0);
  const std::int64_t features = g.size(1);
  if (uses_register_gemm()) {
    const PackedRight right(x);
    const std::int64_t tile = tile_for_threads(features, kOwnRows);
    at::parallel_for(0, (features + tile - 1) / tile, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t first = begin * tile; first < std::min(features, end * tile); first += tile) {
        right.product(std::min(tile, features - first), {g.const_data_ptr<float>() + first, 1, g.stride(0)},
                      out.data_ptr<float>() + first * x.size(1), x.size(1), add);
      }
    });
    return;
  }
  // Enough tiles for all threads even if there are few features.
  const std::int64_t tile = std::clamp<std::int64_t>((features + at::get_num_threads() - 1) / at::get_num_threads(),
                                                     std::min<std::int64_t>(features, 16), kGradientTile.rows);
  at::parallel_for(0, (features + tile - 1) / tile, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> g_t(static_cast<std::size_t>(tile * kGradientTile.inner));
    for (std::int64_t first = begin * tile; first < std::min(features, end * tile); first += tile) {
      const std::int64_t rows = std::min(tile, features - first);
      for (std::int64_t q = 0; q < m; q += kGradientTile.inner) {
        const std::int64_t count = std::min(kGradientTile.inner, m - q);
        transpose(g.const_data_ptr<float>() + q * g.stride(0) + first, g.stride(0), count, rows, g_t.data(),
                  kGradientTile.inner);
        add_product(kGradientTile, rows, x.size(1), count, {g_t.data(), kGradientTile.inner},
                    {x.const_data_ptr<float>() + q * x.stride(0), x.stride(0)},
                    out.data_ptr<float>() + first * x.size(1), x.size(1), add || q > 0);
      }
    }
  });
}

Tensor weight_gradient(const Tensor& g, const Tensor& x) {
  const Tensor out = torch::empty({g.size(1), x.size(1)}, x.options().requires_grad(false));
  weight_gradient(g, x, out, false);
  return out;
}

}  // namespace xlm
