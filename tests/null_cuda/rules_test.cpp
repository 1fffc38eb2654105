// The stand-in for CUDA itself: each broken rule is noticed, and no other.
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/null_cuda/null_cuda_fixture.h"
#include "tests/null_cuda/stand_in/settings.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class NullCudaRules : public NullCuda {
 protected:
  void SetUp() override {}  // no text is needed
};

TEST_F(NullCudaRules, ProgramsThatKeepThemBreakNone) {
  const ProgramResult result = on_gpu("kept", "", {XLM_NULL_MISUSE, "nothing"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "as expected\n");
  const NullCudaReport seen = report("kept");
  EXPECT_THAT(seen.violations, IsEmpty());
  EXPECT_EQ(seen.launches, 2);
  EXPECT_THAT(seen.peaks, ElementsAre(1 << 20));
}

TEST_F(NullCudaRules, EachBrokenOneIsNoticed) {
  for (const auto& [rule, text] : std::vector<std::pair<std::string, std::string>>{
           {"wait", "cudaDeviceSynchronize while a stream is recorded"},
           {"wait-for-stream", "cudaStreamSynchronize of a stream that is recorded"},
           {"ask-stream", "cudaStreamQuery of a stream that is recorded"},
           {"ask-event", "cudaEventQuery while a stream is recorded"},
           {"allocate", "cudaMalloc while a stream is recorded"},
           {"free", "cudaFree while a stream is recorded"},
           {"copy", "a copy of memory that is not pinned of a stream that is recorded"},
           {"other-stream", "goes into a stream that is not recorded, while another is"},
           {"grid", "larger than this GPU allows, or empty"},
           {"no-grid", "larger than this GPU allows, or empty"},
           {"block", "larger than this GPU allows, or empty"},
           {"shared", "more shared memory than a block may have"},
           {"beyond", "a copy goes beyond the end of an allocation"},
           {"fill-beyond", "a fill goes beyond the end of an allocation"},
           {"free-twice", "cudaFree of an address that is no allocation"},
           {"unknown", "does not know the call cudaStreamCreate"}}) {
    const ProgramResult result = on_gpu(rule, "", {XLM_NULL_MISUSE, rule});
    EXPECT_EQ(result.code, 0) << rule;
    EXPECT_THAT(report(rule).violations, ElementsAre(HasSubstr(text))) << rule;
    EXPECT_THAT(result.err, HasSubstr("null CUDA: a rule is broken: ")) << rule;
    if (rule == "wait") {
      EXPECT_EQ(result.out, "refused\n") << "the recording is spoiled";
    }
  }
}

TEST_F(NullCudaRules, TheHostMayNotReadAGpusMemory) {
  const ProgramResult result = on_gpu("read", "", {XLM_NULL_MISUSE, "read"});
  EXPECT_EQ(result.code, 128 + SIGSEGV);
  EXPECT_THAT(report("read").violations, ElementsAre("the host reads or writes a GPU's memory"));
}

TEST_F(NullCudaRules, MemoryIsThatOfTheSettings) {
  const ProgramResult result = on_gpu("full", "memory=1000", {XLM_NULL_MISUSE, "nothing"});
  EXPECT_EQ(result.out, "no memory\n");
}

TEST(NullCudaSettings, WrongOnesAreRefused) {
  using null_cuda::read_settings;
  const null_cuda::Settings read =
      read_settings("capability=86;memory=10e9;devices=2;answer=8:integer:10,20;fail=malloc:3:once;plant=wait");
  EXPECT_EQ(read.capability, 86);
  EXPECT_EQ(read.memory, 10e9);
  EXPECT_EQ(read.devices, 2);
  ASSERT_EQ(read.answers.size(), 1U);
  EXPECT_EQ(read.answers[0].bytes, 8U);
  EXPECT_THAT(read.answers[0].numbers, ElementsAre(10, 20));
  ASSERT_EQ(read.faults.size(), 1U);
  EXPECT_EQ(read.faults[0].at, 3);
  EXPECT_TRUE(read.faults[0].once);
  for (const char* wrong :
       {"capability", "capability=x", "devices=0", "devices=1.5", "other=1", "answer=8:10", "answer=8:whole:1",
        "fail=malloc", "fail=other:1", "fail=malloc:0", "fail=malloc:1:twice", "plant=other"}) {
    EXPECT_THROW(read_settings(wrong), std::invalid_argument) << wrong;
  }
}

TEST_F(NullCudaRules, WrongSettingsEndTheProcess) {
  const ProgramResult result = on_gpu("wrong", "nonsense", {XLM_NULL_MISUSE, "nothing"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("'nonsense' is not KEY=VALUE"));
}

}  // namespace
}  // namespace xlm
