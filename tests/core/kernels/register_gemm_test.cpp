// The program's own products against libtorch's in double precision.
#include "core/kernels/register_gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

namespace xlm {
namespace {

using torch::Tensor;

struct ProductSizes {
  std::int64_t rows, columns, inner;
  friend void PrintTo(const ProductSizes& sizes, std::ostream* out) {
    *out << sizes.rows << "x" << sizes.columns << "x" << sizes.inner;
  }
};

/// Row counts that end in every kind of block, column counts around one and two vectors of either size, and inner sizes
/// around a piece.
std::vector<ProductSizes> all_sizes() {
  std::vector<ProductSizes> sizes;
  for (std::int64_t rows = 1; rows <= 30; ++rows) sizes.push_back({rows, 32, 7});
  for (const std::int64_t columns : {1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 50, 64}) {
    for (const std::int64_t rows : {1, 6, 7, 13}) sizes.push_back({rows, columns, 9});
  }
  for (const std::int64_t inner : {1, 2, 255, 256, 257, 513}) sizes.push_back({8, 33, inner});
  return sizes;
}

/// A matrix [rows, columns] inside a larger one, whose other elements are NaN: none of them may be read.
Tensor inside(std::int64_t rows, std::int64_t columns, std::int64_t more) {
  const Tensor around = torch::full({rows, columns + more}, std::nanf(""));
  const Tensor matrix = around.narrow(1, 0, columns);
  matrix.copy_(torch::randn({rows, columns}));
  return matrix;
}

LeftOperand left(const Tensor& a) { return {a.const_data_ptr<float>(), a.stride(0), a.stride(1)}; }

/// The error of `found` against a·b (+ before), relative to the rounding error of so many terms.
double error(const Tensor& found, const Tensor& a, const Tensor& b, const Tensor& before) {
  const Tensor x = a.to(torch::kDouble);
  const Tensor y = b.to(torch::kDouble);
  const Tensor truth = torch::matmul(x, y) + before.to(torch::kDouble);
  const Tensor size = torch::matmul(x.abs(), y.abs()) + before.to(torch::kDouble).abs();
  return ((found.to(torch::kDouble) - truth).abs() / (size * 6e-8 * std::sqrt(static_cast<double>(a.size(1)) + 4)))
      .max()
      .item<double>();
}

class RegisterGemm : public testing::TestWithParam<ProductSizes> {};

TEST_P(RegisterGemm, EqualsTheProductInDoublePrecision) {
  torch::manual_seed(1);
  const auto [rows, columns, inner] = GetParam();
  for (const bool transposed : {false, true}) {
    const Tensor a = transposed ? inside(inner, rows, 3).t() : inside(rows, inner, 5);
    const Tensor b = inside(inner, columns, 2);
    for (const bool add : {false, true}) {
      const Tensor around = torch::full({rows, columns + 4}, 7.0F);
      const Tensor c = around.narrow(1, 0, columns);
      const Tensor before = add ? torch::randn({rows, columns}) : torch::zeros({rows, columns});
      if (add) c.copy_(before);
      register_gemm(rows, columns, inner, left(a), b.const_data_ptr<float>(), b.stride(0), c.data_ptr<float>(),
                    c.stride(0), add);
      EXPECT_LT(error(c, a, b, before), 4) << (transposed ? "transposed " : "") << (add ? "added" : "");
      EXPECT_TRUE((around.narrow(1, columns, 4) == 7).all().item<bool>()) << "it wrote outside the product";
      const Tensor packed = add ? before.clone() : torch::full({rows, columns}, std::nanf(""));
      PackedRight(b).product(rows, left(a), packed.data_ptr<float>(), columns, add);
      EXPECT_TRUE(torch::equal(packed, c));
      const Tensor turned = add ? before.clone() : torch::full({rows, columns}, std::nanf(""));
      const Tensor across = b.t().contiguous();
      PackedRight(across, true).product(rows, left(a), turned.data_ptr<float>(), columns, add);
      EXPECT_TRUE(torch::equal(turned, c));
    }
  }
}

std::string name_of(const testing::TestParamInfo<ProductSizes>& sizes) {
  return std::to_string(sizes.param.rows) + "x" + std::to_string(sizes.param.columns) + "x" +
         std::to_string(sizes.param.inner);
}

INSTANTIATE_TEST_SUITE_P(, RegisterGemm, testing::ValuesIn(all_sizes()), name_of);

}  // namespace
}  // namespace xlm
