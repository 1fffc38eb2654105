// The GPU's kernel of losses, on a stand-in for a block of threads, against libtorch's cross-entropy.
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/cuda/block_of_fibers.h"

#include "core/cuda/kernels/loss_rows.cuh"
#include "core/kernels/cross_entropy.h"
#include "core/kernels/gpu_program.h"
#include "core/kernels/packed_operands.h"
#include "tests/core/kernels/exactness.h"
#include "tests/needs.h"

namespace xlm {
namespace {

using torch::Tensor;

/// Runs the kernel block by block. The order of threads is drawn from `order`.
class FiberLosses : public RowKernels {
 public:
  explicit FiberLosses(std::uint64_t order = 1) : order_(order) {}

  void norm_forward(const norm::Kind& /*kind*/, const norm::Arguments& /*a*/) override { throw std::logic_error("?"); }
  void norm_backward(const norm::Kind& /*kind*/, const norm::Arguments& /*a*/) override { throw std::logic_error("?"); }
  void losses(const loss::Arguments& arguments) override {
    band::BlockOfFibers block(band::kThreads, 2 * sizeof(float) * band::kThreads / 32, order_);
    for (int x = 0; x < arguments.rows; ++x) block.run(x, 0, [&] { loss::write_losses(arguments); });
  }

 private:
  std::uint64_t order_;
};

/// The loss and the gradients of hidden states and weights, in pieces of 7 rows: by the kernels, or by libtorch.
std::vector<Tensor> loss_and_gradients(torch::ScalarType type, RowKernels* kernels, std::int64_t symbols) {
  torch::manual_seed(3);
  const auto leaf = [&](const Tensor& x) { return x.to(torch::kBFloat16).to(type).set_requires_grad(true); };
  const Tensor hidden = leaf(torch::randn({2, 10, 24}) * 2);
  const Tensor weight = leaf(torch::randn({symbols, 24}));
  const Tensor targets = torch::randint(symbols, {2, 10});
  targets[1].narrow(0, 3, 4).fill_(kNoTarget);
  const Tensor loss =
      composed_summed_cross_entropy(hidden, weight, {}, targets, {.rows = 7, .multiple = 64, .kernels = kernels});
  std::vector<Tensor> all{loss.detach()};
  for (const Tensor& each : torch::autograd::grad({loss * 0.3}, {hidden, weight})) all.push_back(each);
  return all;
}

/// Products are in bfloat16, as under autocast of a GPU.
std::vector<Tensor> rounded_results(RowKernels* kernels, std::int64_t symbols) {
  const auto before = at::autocast::get_autocast_dtype(torch::kCPU);
  at::autocast::set_autocast_dtype(torch::kCPU, torch::kBFloat16);
  at::autocast::set_autocast_enabled(torch::kCPU, true);
  std::vector<Tensor> results;
  try {
    results = loss_and_gradients(torch::kFloat, kernels, symbols);
  } catch (...) {
    at::autocast::set_autocast_enabled(torch::kCPU, false);
    throw;
  }
  at::autocast::set_autocast_enabled(torch::kCPU, false);
  at::autocast::set_autocast_dtype(torch::kCPU, before);
  return results;
}

TEST(LossRows, ValueAndGradientsAreAsExactAsLibtorchs) {
  if (!has_bfloat16_products()) GTEST_SKIP() << needs::kProcessor;
  FiberLosses kernels;
  Exactness exactness;
  for (const std::int64_t symbols : {1100, 1216, 5003}) {  // with padding and without
    exactness.add(torch::kBFloat16, rounded_results(&kernels, symbols), rounded_results(nullptr, symbols),
                  loss_and_gradients(torch::kDouble, nullptr, symbols));
  }
  exactness.expect_as_plain(1e-3);
}

/// Of given logits nothing but the gradient's last rounding differs.
TEST(LossRows, LossesOfLogitsAreExact) {
  torch::manual_seed(4);
  for (const std::int64_t symbols : {1, 7, 1001, 4096}) {
    const std::int64_t stride = (symbols + 7) / 8 * 8;
    for (const double size : {0.1, 30.0}) {
      const Tensor logits = (torch::randn({3, stride}) * size).to(torch::kBFloat16);
      const Tensor targets = torch::randint(symbols, {3});
      const Tensor leaf = logits.narrow(1, 0, symbols).to(torch::kDouble).set_requires_grad(true);
      const Tensor expected = torch::nn::functional::cross_entropy(
          leaf, targets, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
      const Tensor gradient = torch::autograd::grad({expected.sum()}, {leaf})[0];
      for (const std::uint64_t order : {1, 2}) {
        for (const bool wanted : {false, true}) {
          const Tensor own = logits.clone();
          const Tensor losses = torch::empty({3});
          FiberLosses(order).losses({.logits = reinterpret_cast<band::Half*>(own.data_ptr<c10::BFloat16>()),
                                     .targets = reinterpret_cast<const long long*>(targets.data_ptr<std::int64_t>()),
                                     .losses = losses.data_ptr<float>(),
                                     .rows = 3,
                                     .symbols = static_cast<int>(symbols),
                                     .stride = stride,
                                     .gradient = wanted});
          EXPECT_TRUE(torch::allclose(losses.to(torch::kDouble), expected, 1e-5, 1e-5)) << losses << expected;
          if (!wanted) {
            EXPECT_TRUE(own.equal(logits));
            continue;
          }
          EXPECT_TRUE(torch::allclose(own.narrow(1, 0, symbols).to(torch::kDouble), gradient, 5e-3, 1e-6));
          EXPECT_EQ(own.slice(1, symbols).abs().sum().item<float>(), 0) << "of padding";
        }
      }
    }
  }
}

/// Kernels that get other arguments than they should.
class FaultyLosses : public FiberLosses {
 public:
  explicit FaultyLosses(void (*spoil)(loss::Arguments&)) : spoil_(spoil) {}
  void losses(const loss::Arguments& arguments) override {
    loss::Arguments spoilt = arguments;
    spoil_(spoilt);
    FiberLosses::losses(spoilt);
  }

 private:
  void (*spoil_)(loss::Arguments&);
};

TEST(LossRows, FaultyKernelsAreFoundBeforeUse) {
  FiberLosses right;
  EXPECT_EQ(find_loss_fault(right, torch::kCPU), "");
  FaultyLosses fewer([](loss::Arguments& a) { a.symbols /= 2; });
  EXPECT_THAT(find_loss_fault(fewer, torch::kCPU), testing::HasSubstr("the losses of logits differ"));
  FaultyLosses no_gradient([](loss::Arguments& a) { a.gradient = false; });
  EXPECT_THAT(find_loss_fault(no_gradient, torch::kCPU), testing::HasSubstr("the gradient of logits differs"));
}

TEST(LossProgram, CompilesForAGpu) {
  if (!find_nvrtc()) GTEST_SKIP() << needs::kCuda;
  for (const int capability : {80, 90, 120}) {
    const GpuProgram program = compile_program(loss_program_text(), capability);
    EXPECT_EQ(program.binary.substr(1, 3), "ELF");
    EXPECT_THAT(program.log, testing::HasSubstr(" 0 bytes spill stores"));
  }
}

}  // namespace
}  // namespace xlm
