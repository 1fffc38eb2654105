// Operands in bfloat16: they round as libtorch does, and products are those of the rounded numbers.
#include "core/kernels/packed_operands.h"
#include "tests/needs.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(Operands, RoundAsLibtorchDoes) {
  torch::manual_seed(1);
  const float infinity = std::numeric_limits<float>::infinity();
  const torch::Tensor given = torch::cat(
      {torch::randn({1000}), torch::tensor({0.0F, -0.0F, infinity, -infinity, std::nanf(""), 3.4e38F, 1.2e-38F}),
       torch::arange(0, 64).to(torch::kFloat) / 256 + 1,  // whole bfloat16 numbers, and ties between them
       torch::arange(0, 64).to(torch::kFloat) / 512 - 3});
  torch::Tensor rounded = torch::empty({given.numel()}, torch::kBFloat16);
  to_bfloat16(given.data_ptr<float>(), given.numel(), rounded.data_ptr<Bfloat16>());
  EXPECT_TRUE(torch::allclose(rounded.to(torch::kFloat), given.to(torch::kBFloat16).to(torch::kFloat), 0, 0, true));
}

TEST(Operands, NumbersBelowTheNormalOnesMayBecomeZero) {
  const std::vector<float> given{1e-40F, -1e-45F, 1.1e-38F};
  std::vector<Bfloat16> rounded(given.size());
  to_bfloat16(given.data(), static_cast<std::int64_t>(given.size()), rounded.data());
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_LE(std::abs(static_cast<float>(rounded[i]) - given[i]), std::numeric_limits<float>::min()) << given[i];
  }
}

TEST(Operands, WidenedNumbersAreTheSame) {
  torch::manual_seed(3);
  for (const std::int64_t count : {1, 15, 16, 33}) {
    const torch::Tensor given = torch::randn({count}).to(torch::kBFloat16);
    torch::Tensor wide = torch::empty({count});
    to_float(given.data_ptr<Bfloat16>(), count, wide.data_ptr<float>());
    EXPECT_TRUE(torch::equal(wide, given.to(torch::kFloat))) << count;
  }
}

/// The product A·B in bfloat16 with every kind of copy of B, against the product of the rounded numbers.
TEST(Operands, EveryCopyGivesTheProductOfTheRoundedNumbers) {
  if (!has_bfloat16_products()) GTEST_SKIP() << needs::kProcessor;
  torch::manual_seed(2);
  const std::int64_t rows = 5;
  const std::int64_t inner = 12;
  const std::int64_t columns = 35;
  const std::int64_t apart = 40;  // between rows of B in memory, and of its transpose
  const torch::Tensor a = torch::randn({rows, inner});
  const torch::Tensor place = torch::randn({inner, apart});
  const torch::Tensor b = place.narrow(1, 0, columns);
  const torch::Tensor lowered = place.to(torch::kBFloat16);
  const torch::Tensor across = b.t().contiguous().to(torch::kBFloat16);  // [columns, inner]
  const torch::Tensor expected =
      torch::matmul(a.to(torch::kBFloat16).to(torch::kDouble), b.to(torch::kBFloat16).to(torch::kDouble));

  OperandBuffer<Bfloat16> left;
  const auto product_with = [&](const Right<Bfloat16>& right) {
    torch::Tensor c = torch::empty({rows, columns});
    product(rows, columns, inner, left.left(a.data_ptr<float>(), a.numel()), inner, right.data, right.stride,
            c.data_ptr<float>(), columns, false);
    return (c - expected).abs().max().item<double>();
  };
  OperandBuffer<Bfloat16> buffer;
  EXPECT_LT(product_with(buffer.right(place.data_ptr<float>(), apart, inner, columns)), 1e-5) << "of sums";
  EXPECT_LT(product_with(buffer.right(lowered.data_ptr<Bfloat16>(), apart, inner, columns)), 1e-5) << "of rows";
  EXPECT_LT(product_with(buffer.right_transposed(across.data_ptr<Bfloat16>(), inner, columns, inner, apart)), 1e-5)
      << "of columns";

  // A part of B, from the third row and the second column on.
  const Right<Bfloat16> whole = buffer.right(place.data_ptr<float>(), apart, inner, columns);
  torch::Tensor c = torch::empty({rows, columns - 1});
  OperandBuffer<Bfloat16> part;
  const torch::Tensor rest = a.narrow(1, 2, inner - 2).contiguous();
  product(rows, columns - 1, inner - 2, part.left(rest.data_ptr<float>(), rest.numel()), inner - 2,
          Right<Bfloat16>{whole.row(2), whole.stride}.column(1), whole.stride, c.data_ptr<float>(), columns - 1, false);
  const torch::Tensor wanted =
      torch::matmul(rest.to(torch::kBFloat16).to(torch::kDouble),
                    b.narrow(0, 2, inner - 2).narrow(1, 1, columns - 1).to(torch::kBFloat16).to(torch::kDouble));
  EXPECT_LT((c - wanted).abs().max().item<double>(), 1e-5);
}

}  // namespace
}  // namespace xlm
