// GPUs of every generation: which attention kernels a run starts there, with how much shared memory, and what it says
// of those that do not fit.
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/cuda/kernels/band_arguments.h"
#include "tests/campaign_size.h"
#include "tests/null_cuda/null_cuda_fixture.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// Bytes of shared memory that a block of a capability may have (CUDA programming guide).
int shared_memory_of(int capability) {
  if (capability == 80) return 163 << 10;
  return capability == 86 || capability == 89 || capability == 120 ? 99 << 10 : 227 << 10;
}

/// A model whose heads have the kernels' width, and what it starts.
struct KernelModel {
  std::string name;
  std::string yaml;
  band::Kind kind;
};

std::vector<KernelModel> kernel_models() {
  return {{"banded",
           "model: {type: adaptive-span, width: 128, heads: 2, feed_forward: 128, layers: 1, span: 64, span_ramp: 8, "
           "dropout: 0.1, attention_dropout: 0.1}\n",
           {64, false, true, true}},
          {"relative",
           "model: {type: hourglass, width: 256, heads: 2, feed_forward: 256, layers: [1], dropout: 0.1, "
           "attention_dropout: 0.1, boundaries: {type: none}}\n",
           {128, true, false, true}}};
}

/// As the stand-in reports a start (stand_in/driver.cpp).
std::string start_of(const char* pass, const band::Kind& kind, int shared) {
  return fmt::format("{} width {} {}{}{} shared {}", pass, kind.width, kind.two_queries ? "relative" : "banded",
                     kind.masked ? " masked" : "", kind.dropped ? " dropped" : "", shared);
}

std::vector<std::string> starts_of(const band::Kind& kind) {
  return {start_of("forward", kind, band::forward_memory(kind)),
          start_of("backward_queries", kind, band::backward_queries_memory(kind)),
          start_of("backward_keys", kind, band::backward_keys_memory(kind))};
}

class NullCudaCapabilities : public NullCuda {
 protected:
  void expect_kernels(const KernelModel& model, int capability) {
    write_file(folder_.path() / "run.yaml",
               "seed: 1\ndata: {path: data}\ndevice: cuda\noptimizer: {warmup_steps: 1}\n"
               "eval: {batch: 2, context: 96, stride: 48}\n"
               "train: {steps: 2, batch: 2, block: 64, eval_every: 0, precision: bfloat16, threads: 1}\n" +
                   model.yaml);
    const std::string runs = fmt::format("{}-{}", model.name, capability);
    const ProgramResult result = train_on_gpu(runs, fmt::format("capability={};memory=20e9", capability));
    EXPECT_EQ(result.code, 0) << runs << "\n" << result.err;
    const NullCudaReport seen = report(runs);
    EXPECT_THAT(seen.violations, IsEmpty()) << runs;
    const band::Kind kind = band::fitting(model.kind, shared_memory_of(capability));
    const int needed = band::block_memory(kind);
    const std::string composed = fmt::format(
        "{} attention on cuda:0 is composed of libtorch's operations: a block has {} KB of shared memory, "
        "and heads {} wide need {}",
        model.kind.two_queries ? "relative" : "banded", shared_memory_of(capability) / 1024, model.kind.width,
        (needed + 1023) / 1024);
    if (needed > shared_memory_of(capability)) {
      EXPECT_THAT(seen.own, IsEmpty()) << runs;
      EXPECT_THAT(result.err, HasSubstr(composed)) << runs;
    } else {
      EXPECT_THAT(seen.own, IsSupersetOf(starts_of(kind))) << runs;
      EXPECT_THAT(result.err, Not(HasSubstr("is composed of"))) << runs;
    }
  }
};

TEST_F(NullCudaCapabilities, KernelsAreChosenByTheSharedMemoryThatABlockMayHave) {
  // Each kernel is compiled once for each capability, in seconds; build/…/null_cuda/cache keeps it.
  std::vector<int> capabilities{86, 120};
  if (campaign_size(0, 1) == 1) capabilities = {80, 86, 89, 90, 100, 120};
  for (const int capability : capabilities) {
    for (const KernelModel& model : kernel_models()) expect_kernels(model, capability);
  }
  expect_kernels(kernel_models()[0], 90);
}

// The sizes that the test above relies on differ between the generations: it can fail for each.
TEST(NullCudaCapability, TheModelsFitDifferentGenerations) {
  std::set<std::vector<std::string>> chosen;
  for (const int capability : {80, 86, 90}) {
    std::vector<std::string> of_models;
    for (const KernelModel& model : kernel_models()) {
      const band::Kind kind = band::fitting(model.kind, shared_memory_of(capability));
      const bool fits = band::block_memory(kind) <= shared_memory_of(capability);
      of_models.emplace_back(!fits ? "none" : kind.compact ? "compact" : "usual");
    }
    chosen.insert(of_models);
  }
  using Models = std::vector<std::string>;
  EXPECT_THAT(chosen, ElementsAre(Models{"compact", "none"}, Models{"usual", "compact"}, Models{"usual", "usual"}));
}

}  // namespace
}  // namespace xlm
