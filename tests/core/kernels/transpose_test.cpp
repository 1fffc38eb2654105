// Transposes against a plain loop.
#include "core/kernels/transpose.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace xlm {
namespace {

/// Sizes around multiples of a block's side of 16, and 0.
constexpr std::int64_t kAroundBlocks[] = {0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 40};

/// Values that all differ. Places that must not be written hold a value that no element has.
template <class T>
void expect_plain_transpose(std::int64_t rows, std::int64_t columns, std::int64_t more) {
  constexpr T kUntouched = -1;
  const std::int64_t in_stride = columns + more;
  const std::int64_t out_stride = rows + 2 * more;
  std::vector<T> in(static_cast<std::size_t>(rows * in_stride));
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<T>(i);
  std::vector<T> found(static_cast<std::size_t>(columns * out_stride), kUntouched);
  std::vector<T> expected = found;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < columns; ++k) {
      expected[static_cast<std::size_t>(k * out_stride + i)] = in[static_cast<std::size_t>(i * in_stride + k)];
    }
  }
  transpose(in.data(), in_stride, rows, columns, found.data(), out_stride);
  EXPECT_EQ(found, expected) << rows << " x " << columns << ", strides larger by " << more << " and " << 2 * more;
}

template <class T>
class Transpose : public testing::Test {};

using TransposedNumbers = testing::Types<float, double>;
TYPED_TEST_SUITE(Transpose, TransposedNumbers);

TYPED_TEST(Transpose, EqualsAPlainLoopAndWritesNothingElse) {
  for (const std::int64_t rows : kAroundBlocks) {
    for (const std::int64_t columns : kAroundBlocks) {
      for (const std::int64_t more : {0, 1, 5, 16}) expect_plain_transpose<TypeParam>(rows, columns, more);
    }
  }
}

}  // namespace
}  // namespace xlm
