// Faults of a GPU that computes nothing: memory that runs out at any call, recordings that are refused, kernels that
// fail, a GPU that is lost, a process that dies in a sum. Each run ends as the documentation says, and nothing is lost:
// the same command finishes it.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/campaign_size.h"
#include "tests/needs.h"
#include "tests/null_cuda/null_cuda_fixture.h"

namespace xlm {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kFaultyRun =
    "seed: 1\ndata: {path: data}\ndevice: cuda\noptimizer: {warmup_steps: 2}\neval: {batch: 2}\n"
    "train: {steps: 12, batch: 8, block: 48, log_every: 1, eval_every: 0, checkpoint_every: 1, threads: 1}\n"
    "model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 2, span: 48, span_ramp: 8}\n";

class NullCudaFaults : public NullCuda {
 protected:
  void SetUp() override {
    NullCuda::SetUp();
    write_file(folder_.path() / "run.yaml", kFaultyRun);
  }

  ProgramResult train_with(const std::string& runs, const std::string& faults,
                           const std::vector<std::string>& overrides = {}) {
    return train_on_gpu(runs, fmt::format("{};{}", kWithoutOwnKernels, faults), overrides);
  }

  bool was_made(const std::string& runs, const std::string& call) const {
    return fs::exists(folder_.path() / (runs + ".reports") / ("fault." + call));
  }

  /// Expects that the same command, on a sound GPU, finishes the run.
  std::string expect_to_finish(const std::string& runs) {
    const ProgramResult result = on_gpu(runs + " again", fmt::format("{};{}", kAnswers, kWithoutOwnKernels),
                                        {XLM_BINARY, "train", "run.yaml", "--runs", runs});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(fs::exists(run_folder(runs) / "model/model.safetensors")) << runs;
    EXPECT_THAT(report(runs + " again").violations, IsEmpty());
    return result.err;
  }
};

TEST_F(NullCudaFaults, MemoryThatIsFullFromAnyCallOnEndsTheRunInWords) {
  std::vector<int> calls{1, 4};
  for (int call = 2; call <= campaign_size(0, 60); ++call) calls.push_back(call);
  int out_of_memory = 0;
  for (const int call : calls) {
    const std::string runs = fmt::format("malloc-{}", call);
    const ProgramResult result = train_with(runs, fmt::format("fail=malloc:{}", call));
    EXPECT_THAT(result.code, AnyOf(0, 5)) << runs << "\n" << result.err;
    if (result.code == 5) {
      ++out_of_memory;
      EXPECT_THAT(result.err, HasSubstr("out of memory")) << runs;
      EXPECT_THAT(result.err, Not(HasSubstr("frame #"))) << "without libtorch's backtrace";
      expect_to_finish(runs);
    }
    EXPECT_THAT(report(runs).violations, IsEmpty()) << runs;
  }
  EXPECT_GT(out_of_memory, 0);
  xlm::report(
      fmt::format("{} runs with memory that is full from a call on, {} out of memory", calls.size(), out_of_memory));
}

// As docs/clusters.md says: it continues with half as many rows at once.
TEST_F(NullCudaFaults, AProductWithoutAWorkspaceHalvesTheRows) {
  bool halved = false;
  for (const int call :
       {400, 550, 300, 700, 200, 900, 150, 100, 60}) {  // one of them falls into a step, and not before the first
    const std::string runs = fmt::format("blas-{}", call);
    const ProgramResult result = train_with(runs, fmt::format("fail=blas:{}:once", call));
    EXPECT_THAT(result.code, AnyOf(0, 5)) << result.err;
    if (result.code == 5) expect_to_finish(runs);
    if (!was_made(runs, "blas") || result.err.find("resumes with 4") == std::string::npos) continue;
    halved = true;
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("CUBLAS_STATUS_ALLOC_FAILED"));
    EXPECT_THAT(result.err, HasSubstr("resuming from step"));
    EXPECT_TRUE(fs::exists(run_folder(runs) / "model/model.safetensors"));
    break;
  }
  EXPECT_TRUE(halved) << "no fault fell into a step";
}

// If the GPU cannot record a step, the log says why once, and the run continues without.
TEST_F(NullCudaFaults, ARefusedRecordingIsDoneWithout) {
  for (const auto& [call, reason] : std::vector<std::pair<std::string, std::string>>{
           {"record", "operation failed due to a previous error during capture"}, {"instantiate", "out of memory"}}) {
    const ProgramResult result = train_with(call, fmt::format("fail={}:1", call), {"train.cuda_graph=true"});
    EXPECT_EQ(result.code, 0) << result.err;
    const std::string warning = "train.cuda_graph has no effect from step";
    EXPECT_THAT(result.err, HasSubstr(warning));
    EXPECT_THAT(result.err, HasSubstr(reason)) << call;
    EXPECT_EQ(result.err.find(warning), result.err.rfind(warning)) << "said once";
    const NullCudaReport seen = report(call);
    EXPECT_EQ(seen.graph_launches, 0);
    EXPECT_THAT(seen.fired, testing::SizeIs(1)) << call;
    EXPECT_THAT(seen.violations, IsEmpty()) << call;
    EXPECT_TRUE(fs::exists(run_folder(call) / "model/model.safetensors"));
  }
}

TEST_F(NullCudaFaults, AFailedKernelAndALostGpuEndTheRunAndItResumes) {
  ASSERT_EQ(train_with("whole", "").code, 0);
  const std::int64_t launches = report("whole").launches;
  for (const auto& [call, text] : std::vector<std::pair<std::string, std::string>>{
           {"kernel", "an illegal memory access was encountered"}, {"device", "unknown error"}}) {
    for (const std::int64_t percent :
         campaign_size(0, 1) == 0 ? std::vector<std::int64_t>{60} : std::vector<std::int64_t>{1, 20, 40, 60, 80, 99}) {
      const std::string runs = fmt::format("{}-{}", call, percent);
      const ProgramResult result = train_with(runs, fmt::format("fail={}:{}", call, launches * percent / 100));
      EXPECT_EQ(result.code, 1) << runs << "\n" << result.err;
      // A product reports the fault of what ran before it as its own.
      EXPECT_THAT(result.err, AnyOf(HasSubstr(text), HasSubstr("CUBLAS_STATUS_EXECUTION_FAILED"))) << runs;
      EXPECT_THAT(result.err, Not(HasSubstr("frame #"))) << runs;
      const std::string again = expect_to_finish(runs);
      if (percent == 60) {
        EXPECT_THAT(again, HasSubstr("resuming from step")) << "the steps before the fault are kept";
      }
    }
  }
}

// docs/gpus.md: if a process is killed, all exit, and the run resumes from its checkpoint. Waits for NCCL's grace.
TEST_F(NullCudaFaults, AProcessThatDiesInASumEndsTheOthers) {
  if (campaign_size(0, 1) == 0) GTEST_SKIP() << needs::kSoak;
  const ProgramResult result =
      train_with("peer", "devices=2;fail=die-in-sum:4:once;fail=wait-in-sum:4:once", {"train.processes=2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(was_made("peer", "die-in-sum"));
  EXPECT_TRUE(was_made("peer", "wait-in-sum"));
  EXPECT_THAT(result.err, HasSubstr("was killed by signal 9"));
  EXPECT_THAT(result.err, HasSubstr("resuming from step 3"));
  EXPECT_TRUE(fs::exists(run_folder("peer") / "model/model.safetensors"));
}

}  // namespace
}  // namespace xlm
