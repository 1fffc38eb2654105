// The model of times against arithmetic by hand, for an H100.
#include <string>

#include <gtest/gtest.h>

#include "tests/null_cuda/stand_in/ledger.h"
#include "tests/null_cuda/stand_in/roofline.h"

namespace xlm {
namespace {

/// The seconds that `work` adds.
template <class Work>
double modelled(const Work& work) {
  const double before = null_cuda::counts().modelled_seconds;
  work();
  return null_cuda::counts().modelled_seconds - before;
}

constexpr double kNanosecond = 1e-9;

TEST(NullCudaRoofline, CopiesTakeTheTimeOfTheirBytes) {
  EXPECT_NEAR(modelled([] { null_cuda::model_copy(2.8e9); }), 1e-3 + 1e-6, kNanosecond);  // 2.8 TB/s
  EXPECT_NEAR(modelled([] { null_cuda::model_copy(4); }), 2e-6, kNanosecond) << "as long as a start takes";
}

TEST(NullCudaRoofline, ProductsTakeTheLongerOfArithmeticAndBytes) {
  // 2 · 8192³ FLOP at 600 TFLOP/s.
  EXPECT_NEAR(modelled([] { null_cuda::model_product(8192, 8192, 8192, 1, 2); }), 1.832519e-3 + 1e-6, kNanosecond);
  // A vector times a matrix [8192, 8192] reads 268 MB and does little.
  EXPECT_NEAR(modelled([] { null_cuda::model_product(1, 8192, 8192, 1, 4); }), 95.8932e-6 + 1e-6, kNanosecond);
}

TEST(NullCudaRoofline, ElementwiseKernelsMoveTheirOperands) {
  // Four elements of 4 bytes at a time, two operands and a result: 12 bytes for each of 700 million elements.
  const std::string name = "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_FSt5arrayIPcLm3EEEEvi";
  EXPECT_NEAR(modelled([&] { null_cuda::model_kernel(name, 1, 7e8); }), 3e-3 + 1e-6, kNanosecond);
  // A kernel that is not known moves 24 bytes for each thread.
  EXPECT_NEAR(modelled([] { null_cuda::model_kernel("other", 7e8, 0); }), 6e-3 + 1e-6, kNanosecond);
}

using null_cuda::BandPass;

TEST(NullCudaRoofline, AttentionCountsTheTilesThatItsQueriesSee) {
  // 512 queries, a band of 1024: eight tiles of queries see 17 tiles of keys each. 16 heads, 132 · 1.7 GHz.
  xlm::band::Arguments banded{};
  banded.queries = 512;
  banded.keys = 1536;
  banded.band = 1024;
  const double step = 16.0 / (132 * 1.7e9);
  EXPECT_NEAR(modelled([&] { null_cuda::model_attention(BandPass::kForward, banded, 16); }),
              8 * 17 * 1100 * step + 1e-6, kNanosecond);
  EXPECT_NEAR(modelled([&] { null_cuda::model_attention(BandPass::kBackwardQueries, banded, 16); }),
              8 * 17 * 1490 * step + 1e-6, kNanosecond);
  EXPECT_NEAR(modelled([&] { null_cuda::model_attention(BandPass::kBackwardKeys, banded, 16); }),
              8 * 17 * 1215 * step + 1e-6, kNanosecond);
  // Causal attention over 128 tokens: the first tile of queries sees one tile of keys, the second two.
  xlm::band::Arguments causal{};
  causal.queries = 128;
  causal.keys = 128;
  causal.band = 128;
  causal.key_offset = 127;
  EXPECT_NEAR(modelled([&] { null_cuda::model_attention(BandPass::kForward, causal, 1600); }),
              3 * 1100 * 1600 / (132 * 1.7e9) + 1e-6, kNanosecond);
}

}  // namespace
}  // namespace xlm
