// The GPU's attention kernels, on a stand-in for a block of threads, against the plain versions.
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/cuda/fiber_kernels.h"

#include "base/error.h"
#include "core/kernels/band_attention_device.h"
#include "core/kernels/examined_kernels.h"
#include "core/kernels/gpu_program.h"
#include "core/kernels/step_context.h"
#include "tests/needs.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using torch::Tensor;

// What a block has in compute capability 8.6, 8.9 and 12.0, and in 8.0.
constexpr int kLittleSharedMemory = 99 * 1024;
constexpr int kSharedMemoryOfAnA100 = 163 * 1024;

/// The value and the gradients of all `leaves`, after these are copied to a type.
template <class Attention>
std::vector<Tensor> value_and_gradients(const Attention& attention, const std::vector<Tensor>& leaves,
                                        torch::ScalarType type) {
  std::vector<Tensor> copies;
  for (const Tensor& leaf : leaves) {
    copies.push_back(leaf.to(torch::kBFloat16).to(type).detach().set_requires_grad(true));
  }
  const Tensor out = attention(copies);
  torch::manual_seed(7);
  const Tensor upstream = torch::randn(out.sizes()).to(torch::kBFloat16);
  std::vector<Tensor> all{out.detach()};
  for (const Tensor& each : torch::autograd::grad({out}, copies, {upstream.to(out.scalar_type())})) all.push_back(each);
  return all;
}

/// Expects a small error, at most twice that of the plain version in bfloat16. Errors are against the plain version in
/// double. Of a few numbers, such as a span for each head, the error must only be small, because the plain version's
/// error is chance. A gradient that is 0 has the errors of float32.
template <class Kernel, class Plain>
void expect_as_exact_as_bfloat16(const std::vector<Tensor>& leaves, const Kernel& kernel, const Plain& plain,
                                 const std::string& what) {
  const auto truth = value_and_gradients(plain, leaves, torch::kDouble);
  const auto rounded = value_and_gradients(plain, leaves, torch::kBFloat16);
  const auto own = value_and_gradients(kernel, leaves, torch::kBFloat16);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double size = truth[i].norm().template item<double>();
    const double least = 1e-6 * std::sqrt(static_cast<double>(truth[0].numel()));
    const double error = (own[i].to(torch::kDouble) - truth[i]).norm().template item<double>();
    const double usual = (rounded[i].to(torch::kDouble) - truth[i]).norm().template item<double>();
    if (truth[i].numel() >= 64) {
      EXPECT_LE(error, 2 * usual + 1e-3 * size + least) << what << ", result " << i << " of size " << size;
    }
    EXPECT_LE(error, 0.02 * size + least) << what << ", result " << i;
  }
}

struct BandCase {
  std::int64_t queries, band, width;
  enum { kNone, kPerHead, kPerQuery } mask;
  double dropout;
};

void expect_banded_exact(const BandCase& c, BandKernels& kernels, double span = -1) {
  torch::manual_seed(3);
  std::vector<Tensor> leaves{torch::randn({2, 2, c.queries, c.width}),
                             torch::randn({2, 2, c.band + c.queries, c.width}),
                             torch::randn({2, 2, c.band + c.queries, c.width}), torch::randn({c.width, c.band})};
  const auto band = static_cast<double>(c.band);
  if (c.mask == BandCase::kPerHead) leaves.push_back(torch::rand({1, 2, 1, 1}) * band);
  if (c.mask == BandCase::kPerQuery) leaves.push_back(torch::rand({2, 2, c.queries, 1}) * band);
  if (span >= 0) leaves.back().fill_(span);
  const auto input = [&](const std::vector<Tensor>& x) {
    return BandedAttentionInput{.query = x[0],
                                .key = x[1],
                                .value = x[2],
                                .position = x[3],
                                .span = x.size() > 4 ? x[4] : Tensor(),
                                .ramp = 32,
                                .dropout = c.dropout,
                                .seed = 5};
  };
  expect_as_exact_as_bfloat16(
      leaves, [&](const auto& x) { return banded_attention_by(kernels, input(x)); },
      [&](const auto& x) { return banded_attention_plain(input(x)); },
      "M " + std::to_string(c.queries) + ", L " + std::to_string(c.band) + ", d " + std::to_string(c.width));
}

TEST(BandKernels, BandsOfEveryShapeClassAreAsExactAsBfloat16) {
  FiberKernels kernels;
  for (const BandCase& c :
       {BandCase{64, 64, 64, BandCase::kNone, 0}, BandCase{64, 1, 64, BandCase::kNone, 0},
        BandCase{70, 100, 64, BandCase::kPerHead, 0}, BandCase{1, 65, 64, BandCase::kPerQuery, 0},
        BandCase{65, 129, 64, BandCase::kPerQuery, 0.3}, BandCase{40, 130, 96, BandCase::kPerHead, 0.3},
        BandCase{66, 70, 128, BandCase::kNone, 0.3}}) {
    expect_banded_exact(c, kernels);
  }
}

TEST(BandKernels, WithLittleSharedMemoryBandsAreAsExactAsBfloat16) {
  FiberKernels kernels(1, kLittleSharedMemory);
  for (const BandCase& c :
       {BandCase{64, 1, 64, BandCase::kNone, 0}, BandCase{70, 100, 64, BandCase::kPerHead, 0},
        BandCase{1, 65, 64, BandCase::kPerQuery, 0}, BandCase{65, 193, 64, BandCase::kPerQuery, 0.3}}) {
    expect_banded_exact(c, kernels);
  }
}

TEST(BandKernels, SpansOfZeroOfTheRampAndOfTheWholeBand) {
  FiberKernels kernels;
  for (const double span : {0.0, 32.0, 90.0, 200.0}) {
    expect_banded_exact({64, 90, 64, BandCase::kPerHead, 0}, kernels, span);
  }
}

TEST(BandKernels, RelativeAttentionIsAsExactAsBfloat16) {
  for (const auto& [length, width, dropout, shared_memory] :
       std::vector<std::tuple<std::int64_t, std::int64_t, double, int>>{{64, 64, 0, kMuchSharedMemory},
                                                                        {1, 64, 0, kMuchSharedMemory},
                                                                        {63, 64, 0.2, kMuchSharedMemory},
                                                                        {65, 64, 0, kMuchSharedMemory},
                                                                        {129, 64, 0.2, kMuchSharedMemory},
                                                                        {70, 96, 0.2, kMuchSharedMemory},
                                                                        {70, 128, 0, kMuchSharedMemory},
                                                                        {1, 64, 0, kLittleSharedMemory},
                                                                        {63, 64, 0.2, kLittleSharedMemory},
                                                                        {193, 64, 0.2, kLittleSharedMemory},
                                                                        {70, 128, 0, kSharedMemoryOfAnA100}}) {
    FiberKernels kernels(1, shared_memory);
    torch::manual_seed(4);
    const std::vector<Tensor> leaves{torch::randn({2, 2, length, width}),
                                     torch::randn({2, 2, length, width}),
                                     torch::randn({2, 2, length, width}),
                                     torch::randn({2, length, width}),
                                     torch::randn({2, width}),
                                     torch::randn({2, width})};
    const auto input = [dropout = dropout](const std::vector<Tensor>& x) {
      return RelativeAttentionInput{.query = x[0],
                                    .key = x[1],
                                    .value = x[2],
                                    .position = x[3],
                                    .content_bias = x[4],
                                    .position_bias = x[5],
                                    .dropout = dropout,
                                    .seed = 9};
    };
    expect_as_exact_as_bfloat16(
        leaves, [&](const auto& x) { return relative_attention_by(kernels, input(x)); },
        [&](const auto& x) { return relative_attention_plain(input(x)); },
        "T " + std::to_string(length) + ", d " + std::to_string(width));
  }
}

/// Value and gradients by one order of threads. Blocks follow each other, so that sums of several keep their order.
std::vector<Tensor> results_in_order(std::uint64_t order, int shared_memory = kMuchSharedMemory) {
  FiberKernels kernels(order, shared_memory);
  torch::manual_seed(6);
  const std::vector<Tensor> leaves{torch::randn({1, 2, 64, 64}), torch::randn({1, 2, 164, 64}),
                                   torch::randn({1, 2, 164, 64}), torch::randn({64, 100}),
                                   torch::rand({1, 2, 1, 1}) * 100};
  return value_and_gradients(
      [&](const auto& x) {
        return banded_attention_by(
            kernels, {.query = x[0], .key = x[1], .value = x[2], .position = x[3], .span = x[4], .ramp = 32});
      },
      leaves, torch::kBFloat16);
}

TEST(BandKernels, OrdersOfThreadsChangeNothing) {
  const std::vector<Tensor> first = results_in_order(1);
  for (std::uint64_t order = 2; order <= 6; ++order) {
    const std::vector<Tensor> other = results_in_order(order);
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(first[i].equal(other[i])) << "result " << i;
    if (order > 3) continue;
    const std::vector<Tensor> compact = results_in_order(order, kLittleSharedMemory);
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(first[i].equal(compact[i])) << "compact, result " << i;
  }
}

BandedAttentionInput small_input(double dropout, std::uint64_t seed) {
  torch::manual_seed(8);
  const auto half = torch::TensorOptions(torch::kBFloat16);
  return {.query = torch::randn({1, 1, 64, 64}, half).set_requires_grad(true),
          .key = torch::randn({1, 1, 94, 64}, half),
          .value = torch::randn({1, 1, 94, 64}, half),
          .position = torch::randn({64, 30}, half),
          .dropout = dropout,
          .seed = seed};
}

// A recorded step is replayed with the same arguments. Only values in the GPU's memory can be drawn again.
TEST(BandKernels, ARecordedStepDrawsItsSeedOnTheDevice) {
  FiberKernels kernels;
  const auto result = [&](const BandedAttentionInput& input) {
    const Tensor out = banded_attention_by(kernels, input);
    return std::pair(out.detach(), torch::autograd::grad({out.sum()}, {input.query})[0]);
  };
  const BandedAttentionInput input = small_input(0.5, 3);
  torch::manual_seed(21);
  const auto drawn = torch::randint(std::numeric_limits<std::int64_t>::max(), {1}, torch::kLong).item<std::int64_t>();
  torch::manual_seed(21);
  const auto first = [&] {
    const SeedsOnDevice seeds(true);
    return result(input);
  }();
  const auto expected = result(small_input(0.5, static_cast<std::uint64_t>(drawn)));
  EXPECT_TRUE(first.first.equal(expected.first));
  EXPECT_TRUE(first.second.equal(expected.second));
  EXPECT_FALSE(first.first.equal(result(input).first)) << "the given seed is another";
}

// bench/records/gpu.md derives from this what share of the tensor cores' rate the kernels can reach at most.
TEST(BandKernels, AWarpMultiplies104TimesForATile) {
  const auto multiplications = [](std::int64_t band) {
    const torch::NoGradGuard no_grad;
    FiberKernels kernels;
    const auto half = torch::TensorOptions(torch::kBFloat16);
    banded_attention_by(kernels, {.query = torch::randn({1, 1, 64, 64}, half),
                                  .key = torch::randn({1, 1, band + 64, 64}, half),
                                  .value = torch::randn({1, 1, band + 64, 64}, half),
                                  .position = torch::randn({64, band}, half)});
    return kernels.multiplications();
  };
  constexpr std::int64_t kWarps = band::kThreads / 32;
  EXPECT_EQ(multiplications(192) - multiplications(128), kWarps * 104);
}

TEST(BandKernels, ANanScoreIsNotHidden) {
  FiberKernels kernels;
  const BandedAttentionInput input = small_input(0, 1);
  input.key[0][0][40].fill_(std::nanf(""));  // the queries 11 to 40 see it
  const Tensor numbers = banded_attention_by(kernels, input).detach().isnan().any(-1)[0][0];
  for (std::int64_t i = 0; i < 64; ++i) EXPECT_EQ(numbers[i].item<bool>(), i >= 11 && i <= 40) << "query " << i;
}

TEST(BandKernels, MoreHeadsThanAGridHoldsAreComposed) {
  KernelCall call{.device = torch::Device("cuda:0"), .type = torch::kBFloat16, .heads = 65'536};
  EXPECT_STREQ(obstacle_to_band_kernels(call, false), "the batch has more than 65,535 heads");
  EXPECT_EQ(choose_kernel(Operation::kBandedAttention, call), KernelVersion::kComposed);
  EXPECT_EQ(choose_kernel(Operation::kRelativeAttention, call), KernelVersion::kComposed);
  EXPECT_TRUE(fits_grid(65'535));
}

/// The numbers before each occurrence of `what`, in the compiler's log.
std::vector<int> numbers_before(const std::string& log, const std::string& what) {
  std::vector<int> found;
  for (std::size_t at = log.find(what); at != std::string::npos; at = log.find(what, at + 1)) {
    found.push_back(std::stoi(log.substr(log.find_last_not_of("0123456789", at - 1) + 1)));
  }
  return found;
}

TEST(BandProgram, CompilesForEveryGenerationOfGpusWithoutSpillingMuch) {
  if (!find_nvrtc()) GTEST_SKIP() << needs::kCuda;
  for (const int capability : {80, 86, 90, 100}) {
    for (const band::Kind& wanted :
         {band::Kind{64, true, false, true}, band::Kind{64, false, true, true}, band::Kind{128, false, true, true}}) {
      const int shared_memory = capability == 86 ? kLittleSharedMemory : kSharedMemoryOfAnA100;
      const band::Kind kind = band::fitting(wanted, shared_memory);
      if (band::block_memory(kind) > shared_memory) continue;
      const GpuProgram program = compile_program(program_text(kind), capability);
      EXPECT_EQ(program.binary.substr(1, 3), "ELF");
      const std::vector<int> spills = numbers_before(program.log, " bytes spill stores");
      const std::vector<int> registers = numbers_before(program.log, " registers");
      ASSERT_EQ(spills.size(), 3U) << program.log;
      ASSERT_EQ(registers.size(), 3U) << program.log;
      EXPECT_THAT(spills, testing::Each(testing::Le(64))) << program.log;
      // The compiler names the last kernel first.
      std::cout << "sm_" << capability << ", d " << kind.width << (kind.two_queries ? ", relative" : ", banded")
                << ": forward " << registers[2] << " registers, " << band::forward_memory(kind) / 1024
                << " KB; backward by queries " << registers[1] << " registers, "
                << band::backward_queries_memory(kind) / 1024 << " KB; by keys " << registers[0] << " registers, "
                << band::backward_keys_memory(kind) / 1024 << " KB\n";
    }
  }
  EXPECT_THROW(compile_program(program_text(band::Kind{64, true, false, true}), 35), Error);
}

TEST(BandProgram, IsCompiledOnceForAllProcesses) {
  if (!find_nvrtc()) GTEST_SKIP() << needs::kCuda;
  const TemporaryFolder folder;
  const DiskCache cache(folder.path());
  const band::Kind kind{64, false, true, false};
  const auto keys = [&] {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder.path())) found.push_back(entry.path().filename().string());
    return found;
  };
  const std::string binary = program_binary(program_text(kind), 80, cache);
  EXPECT_EQ(binary.substr(1, 3), "ELF");
  const std::vector<std::string> first = keys();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(cache.find(first[0]), binary);
  cache.keep(first[0], "kept");
  EXPECT_EQ(program_binary(program_text(kind), 80, cache), "kept");
  EXPECT_EQ(program_binary(program_text(kind), 90, cache).substr(1, 3), "ELF") << "another capability";
  EXPECT_EQ(program_binary(program_text(band::Kind{64, false, true, true}), 80, cache).substr(1, 3), "ELF")
      << "another kernel";
  EXPECT_EQ(keys().size(), 3U);
}

TEST(BandProgram, FitsIntoSharedMemory) {
  for (const int width : {64, 96, 128}) {
    for (const bool two : {false, true}) {
      const band::Kind of_h100 = band::fitting({width, two, !two, true}, 227 * 1024);
      EXPECT_FALSE(of_h100.compact);
      EXPECT_LE(band::block_memory(of_h100), 227 * 1024);
      const band::Kind of_a100 = band::fitting({width, two, !two, true}, kSharedMemoryOfAnA100);
      EXPECT_EQ(of_a100.compact, width == 128 && two);
      EXPECT_LE(band::block_memory(of_a100), kSharedMemoryOfAnA100);
    }
  }
  for (const bool two : {false, true}) {
    const band::Kind little = band::fitting({64, two, !two, true}, kLittleSharedMemory);
    EXPECT_TRUE(little.compact);
    EXPECT_LE(band::block_memory(little), kLittleSharedMemory);
    EXPECT_FALSE(band::fitting(little, 227 * 1024).compact);
  }
}

// The stand-in itself: a warp's instructions, by their documented layouts.

TEST(BlockOfFibers, AWarpMultipliesMatrices) {
  using namespace band;
  std::array<Half, 16 * 16> a{};
  std::array<Half, 16 * 8> b{};
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = to_half(static_cast<float>(static_cast<int>(i * 7 % 19) - 9));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = to_half(static_cast<float>(static_cast<int>(i * 5 % 13) - 6));
  std::array<float, 16 * 8> result{};
  BlockOfFibers block(32, 4096, 1);
  block.run(0, 0, [&] {
    Half* left = static_cast<Half*>(shared_memory());
    Half* right = left + 16 * 16;
    for (int i = thread_index(); i < 16 * 16; i += 32) left[i] = a[static_cast<std::size_t>(i)];
    for (int i = thread_index(); i < 16 * 8; i += 32) right[i] = b[static_cast<std::size_t>(i)];
    sync_block();
    const int lane = thread_index();
    unsigned of_a[4];
    unsigned of_b[4];
    load_matrices(of_a, left + lane % 16 * 16 + 8 * (lane / 16));
    load_matrices_transposed(of_b, right + lane % 16 * 8);  // rows 0 to 15, twice
    float sum[4] = {1, 1, 1, 1};
    multiply_add(sum, of_a, of_b[0], of_b[1]);
    for (int i = 0; i < 4; ++i) {
      result[static_cast<std::size_t>((lane / 4 + 8 * (i / 2)) * 8 + 2 * (lane % 4) + i % 2)] = sum[i];
    }
  });
  for (std::size_t row = 0; row < 16; ++row) {
    for (std::size_t column = 0; column < 8; ++column) {
      float expected = 1;
      for (std::size_t k = 0; k < 16; ++k) expected += to_float(a[row * 16 + k]) * to_float(b[k * 8 + column]);
      EXPECT_EQ(result[row * 8 + column], expected) << row << ", " << column;
    }
  }
}

TEST(BlockOfFibers, AMissingBarrierIsFound) {
  using namespace band;
  int wrong = 0;
  for (std::uint64_t order = 0; order < 20; ++order) {
    BlockOfFibers block(64, 256, order);
    bool right = true;
    block.run(0, 0, [&] {
      auto* shared = static_cast<int*>(shared_memory());
      shared[thread_index()] = thread_index();
      right = right && shared[63 - thread_index()] == 63 - thread_index();
    });
    wrong += right ? 0 : 1;
  }
  EXPECT_EQ(wrong, 20);
}

TEST(BlockOfFibers, ABarrierThatAThreadMissesIsAnError) {
  using namespace band;
  BlockOfFibers block(64, 256, 1);
  EXPECT_THROW(block.run(0, 0,
                         [] {
                           if (thread_index() < 40) sync_block();
                         }),
               std::logic_error);
  EXPECT_THROW(block.run(0, 0,
                         [] {
                           if (thread_index() % 2 == 0) {
                             sync_warp();
                           } else {
                             shuffle_xor(1, 1);
                           }
                         }),
               std::logic_error);
}

}  // namespace
}  // namespace xlm
