// The GPU's kernels of norms, on a stand-in for a block of threads, against libtorch's operations.
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/cuda/block_of_fibers.h"

#include "core/cuda/kernels/norm_rows.cuh"
#include "core/kernels/dropout.h"
#include "core/kernels/gpu_program.h"
#include "core/kernels/norm_device.h"
#include "core/kernels/step_weights.h"
#include "tests/needs.h"

namespace xlm {
namespace {

using torch::Tensor;

/// Runs the kernels block by block. The order of threads is drawn from `order`.
class FiberNorms : public RowKernels {
 public:
  explicit FiberNorms(std::uint64_t order = 1) : order_(order) {}

  void norm_forward(const norm::Kind& kind, const norm::Arguments& arguments) override {
    run(kind, norm::forward_blocks(arguments.rows), 0,
        [&]<int width, bool centred> { norm::forward<width, centred>(arguments); });
  }
  void norm_backward(const norm::Kind& kind, const norm::Arguments& arguments) override {
    const int blocks = norm::backward_blocks(kind, arguments.rows);
    run(kind, blocks, norm::backward_memory(kind),
        [&]<int width, bool centred> { norm::backward<width, centred>(arguments, blocks); });
  }
  void losses(const loss::Arguments& /*arguments*/) override { throw std::logic_error("no norm"); }

 private:
  template <class Thread>
  void run(const norm::Kind& kind, int blocks, int memory, const Thread& thread) {
    band::BlockOfFibers block(band::kThreads, static_cast<std::size_t>(memory), order_);
    for (int x = 0; x < blocks; ++x) {
      block.run(x, 0, [&] {
        if (kind.width == 64) return of_width<64>(kind, thread);
        if (kind.width == 192) return of_width<192>(kind, thread);
        if (kind.width == 1024) return of_width<1024>(kind, thread);
        throw std::logic_error("no kernel of this width");
      });
    }
  }
  template <int width, class Thread>
  static void of_width(const norm::Kind& kind, const Thread& thread) {
    if (kind.centred) return thread.template operator()<width, true>();
    return thread.template operator()<width, false>();
  }

  std::uint64_t order_;
};

struct NormCase {
  std::int64_t rows, width;
  bool centred, with_bias;
  double dropout = 0;
};

/// Both results and all gradients, of either form of the sum's norm.
std::vector<Tensor> normed_results(const NormCase& c, torch::ScalarType type, RowKernels* kernels, bool is_stream) {
  torch::manual_seed(5);
  const auto leaf = [type](const Tensor& x) { return x.to(torch::kBFloat16).to(type).set_requires_grad(true); };
  const Tensor stream = leaf(torch::randn({2, c.rows, c.width}) + 0.5);
  const Tensor scale = leaf(torch::randn({c.width}));
  const Tensor bias = leaf(torch::randn({c.width}));
  Tensor added = torch::randn({2, c.rows, c.width}).to(torch::kBFloat16);
  if (kernels == nullptr) added = added.to(type);
  added.set_requires_grad(true);
  const AddedPart part{.value = added, .dropout = c.dropout, .seed = 77};
  const NormWeights weights{.scale = scale, .bias = c.with_bias ? bias : Tensor()};
  const NormOptions options{.centred = c.centred, .epsilon = 1e-3};
  Tensor first;
  Tensor second;
  if (is_stream) {
    const NormedStream made = kernels != nullptr ? normed_sum_by(*kernels, stream, part, weights, options)
                                                 : normed_sum_composed(stream, part, weights, options);
    first = made.stream;
    second = made.read;
  } else if (kernels != nullptr) {
    const ResidualNorm made = residual_norm_by(*kernels, stream, part, weights, options);
    first = made.sum;
    second = made.normed;
  } else {
    first = stream + place_dropout(added, c.dropout, 77);
    second = normed_sum_composed(stream, part, weights, options).read;
  }
  const Tensor d_first = torch::randn(first.sizes()).to(torch::kBFloat16).to(first.scalar_type());
  const Tensor d_second = torch::randn(first.sizes()).to(torch::kBFloat16).to(second.scalar_type());
  std::vector<Tensor> leaves{stream, added, scale};
  if (c.with_bias) leaves.push_back(bias);
  std::vector<Tensor> all{first.detach(), second.detach()};
  for (const Tensor& each : torch::autograd::grad({first, second}, leaves, {d_first, d_second})) all.push_back(each);
  return all;
}

void expect_norms_exact(const NormCase& c, RowKernels& kernels) {
  for (const bool is_stream : {true, false}) {
    const std::vector<Tensor> own = normed_results(c, torch::kFloat, &kernels, is_stream);
    const std::vector<Tensor> truth = normed_results(c, torch::kDouble, nullptr, is_stream);
    ASSERT_EQ(own.size(), truth.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      // What is bfloat16 is rounded once, to 8 bits.
      const double most = own[i].scalar_type() == torch::kBFloat16 ? 2.5e-3 : 2e-6;
      const double off = ((own[i].to(torch::kDouble) - truth[i]).norm() / truth[i].norm()).item<double>();
      EXPECT_LE(off, most) << "result " << i << " of " << c.rows << " rows of " << c.width << ", stream " << is_stream;
    }
  }
}

TEST(NormRows, ValuesAndGradientsAreThoseOfLibtorchInDouble) {
  FiberNorms kernels;
  for (const NormCase& c :
       {NormCase{1, 64, true, true}, NormCase{5, 192, true, true, 0.3}, NormCase{6, 192, false, false},
        NormCase{3, 1024, false, true, 0.1}, NormCase{2, 1024, true, false}}) {
    expect_norms_exact(c, kernels);
  }
}

TEST(NormRows, MoreRowsThanTheBlocksOfTheBackwardPass) {
  FiberNorms kernels;
  expect_norms_exact({norm::most_parts({64, true}) * norm::kWarps, 64, true, true, 0.2}, kernels);
}

TEST(NormRows, ThreadsInAnyOrderComputeTheSameBits) {
  const NormCase c{9, 192, true, true, 0.3};
  FiberNorms one(1);
  const std::vector<Tensor> expected = normed_results(c, torch::kFloat, &one, true);
  for (const std::uint64_t order : {2, 3, 4}) {
    FiberNorms kernels(order);
    const std::vector<Tensor> found = normed_results(c, torch::kFloat, &kernels, true);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(found[i].equal(expected[i])) << i << ", " << order;
  }
}

/// Only one of the two results may have a gradient, and nothing need be added.
TEST(NormRows, GradientsThatAreNotThereAreZero) {
  FiberNorms kernels;
  torch::manual_seed(6);
  const Tensor stream = torch::randn({2, 3, 64}).set_requires_grad(true);
  const Tensor scale = torch::randn({64});
  const Tensor added = torch::randn({2, 3, 64}).to(torch::kBFloat16);
  const auto gradient = [&](const Tensor& result) { return torch::autograd::grad({result.sum()}, {stream})[0]; };
  const NormOptions options{.centred = true};
  const auto expected = gradient(normed_sum_composed(stream, {.value = added}, {.scale = scale}, options).stream);
  const NormedStream made = normed_sum_by(kernels, stream, {.value = added}, {.scale = scale}, options);
  EXPECT_TRUE(torch::allclose(gradient(made.stream), expected, 1e-4, 1e-5));
  const ResidualNorm sum = residual_norm_by(kernels, stream, {.value = added}, {.scale = scale}, options);
  EXPECT_TRUE(torch::equal(gradient(sum.sum), torch::ones_like(stream)));
  const ResidualNorm alone = residual_norm_by(kernels, stream, {}, {.scale = scale}, options);
  EXPECT_TRUE(alone.sum.is_same(stream));
  EXPECT_TRUE(torch::allclose(gradient(alone.normed), gradient(norm_of(stream, scale, options)), 1e-2, 1e-3));
}

/// Kernels that get other arguments than they should.
class FaultyNorms : public FiberNorms {
 public:
  explicit FaultyNorms(void (*spoil)(norm::Arguments&)) : spoil_(spoil) {}
  void norm_forward(const norm::Kind& kind, const norm::Arguments& arguments) override {
    FiberNorms::norm_forward(kind, spoilt(arguments));
  }
  void norm_backward(const norm::Kind& kind, const norm::Arguments& arguments) override {
    FiberNorms::norm_backward(kind, spoilt(arguments));
  }

 private:
  norm::Arguments spoilt(norm::Arguments arguments) const {
    spoil_(arguments);
    return arguments;
  }
  void (*spoil_)(norm::Arguments&);
};

// Uses of one norm leave their parts behind; each seed may lie in the GPU's memory.
TEST(NormRows, SharedWeightsHaveTheGradientsOfSeparateUses) {
  FiberNorms kernels;
  for (const bool with_bias : {true, false}) {
    const auto gradients = [&](bool is_shared) {
      torch::manual_seed(7);
      const Tensor scale = torch::randn({64}).set_requires_grad(true);
      const Tensor bias = torch::randn({64}).set_requires_grad(true);
      const Tensor first = torch::randn({2, 5, 64}).set_requires_grad(true);
      const Tensor added = torch::randn({2, 5, 64}).to(torch::kBFloat16).set_requires_grad(true);
      const Tensor upstream = torch::randn({2, 5, 64});
      std::optional<StepWeights> shared;
      if (is_shared) shared.emplace(torch::kBFloat16);
      Tensor stream = first;
      Tensor total = torch::zeros({});
      for (const std::uint64_t seed : {77U, 78U, 79U}) {
        AddedPart part{.value = added, .dropout = 0.3, .seed = is_shared ? 0 : seed};
        if (is_shared) part.seed_place = torch::tensor({static_cast<std::int64_t>(seed)});
        const auto [sum, normed] = residual_norm_by(
            kernels, stream, part, {.scale = scale, .bias = with_bias ? bias : Tensor()}, {.centred = true});
        stream = sum;
        total = total + (normed * upstream).sum();
      }
      std::vector<Tensor> leaves{scale, first, added};
      if (with_bias) leaves.push_back(bias);
      return torch::autograd::grad({total}, leaves);
    };
    const std::vector<Tensor> expected = gradients(false);
    const std::vector<Tensor> found = gradients(true);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_TRUE(torch::allclose(found[i], expected[i], 1e-4, 1e-4)) << i << ", with bias " << with_bias;
    }
  }
}

TEST(NormRows, FaultyKernelsAreFoundBeforeUse) {
  FiberNorms right;
  torch::manual_seed(1);
  const Tensor expected = torch::randn({4});
  torch::manual_seed(1);
  for (const bool centred : {true, false}) EXPECT_EQ(find_norm_fault(right, torch::kCPU, 64, centred), "");
  EXPECT_TRUE(torch::randn({4}).equal(expected)) << "the check for faults changed the random numbers";
  FaultyNorms no_bias([](norm::Arguments& a) { a.bias = nullptr; });
  EXPECT_THAT(find_norm_fault(no_bias, torch::kCPU, 64, true), testing::HasSubstr("the value of a norm differs"));
  FaultyNorms no_gradient([](norm::Arguments& a) { a.d_rounded = nullptr; });
  EXPECT_THAT(find_norm_fault(no_gradient, torch::kCPU, 64, true), testing::HasSubstr("gradient 1 of a norm differs"));
}

/// NVRTC compiles the same text for a GPU; rows stay in registers, but for two numbers of the widest.
TEST(NormProgram, NeedsHardlyAnyLocalMemory) {
  if (!find_nvrtc()) GTEST_SKIP() << needs::kCuda;
  for (const int width : {512, 1024}) {
    for (const bool centred : {true, false}) {
      const GpuProgram program = compile_program(program_text(norm::Kind{width, centred}), 90);
      EXPECT_EQ(program.binary.substr(1, 3), "ELF");
      std::size_t kernels = 0;
      for (std::string_view log = program.log; log.find(" bytes spill stores") != std::string_view::npos;
           log.remove_prefix(log.find(" bytes spill stores") + 1)) {
        const std::string_view spilled = log.substr(log.find(" bytes spill stores") - 3, 3);
        EXPECT_TRUE(spilled == ", 0" || (width == 1024 && spilled == ", 8")) << log;
        ++kernels;
      }
      EXPECT_EQ(kernels, 2U) << program.log;
    }
  }
}

}  // namespace
}  // namespace xlm
