// The program with little address space. Sanitizers need more, so these tests do not run under them.
#include <gmock/gmock.h>

#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

class ThreadsTest : public ProgramTest {};

TEST_F(ThreadsTest, TooManyAreAnError) {
  const ProgramResult result =
      shell(folder_.path(), "ulimit -v 2000000; exec '" XLM_FAKE_BINARY "' train run.yaml train.threads=4096");
  EXPECT_EQ(result.code, kOutOfResources);
  EXPECT_THAT(result.err, ::testing::HasSubstr("train.threads: this process can start only"));
}

TEST_F(ThreadsTest, TooManyAreAnErrorOfCommandsOnWeightsToo) {
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  const std::string id = run_folders().front().filename().string();
  for (const std::string& command : {"eval " + id, "sample " + id + " --prompt a"}) {
    const ProgramResult result =
        shell(folder_.path(), "ulimit -v 2000000; exec '" XLM_FAKE_BINARY "' " + command + " train.threads=4096");
    EXPECT_EQ(result.code, kOutOfResources) << command;
    EXPECT_THAT(result.err, ::testing::HasSubstr("train.threads: this process can start only")) << command;
  }
}

}  // namespace
}  // namespace xlm
