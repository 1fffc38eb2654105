// The program where it is refused address space. Under sanitizers, which need more of it, nothing of this can be seen.
#include <gmock/gmock.h>

#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

class ThreadsTest : public ProgramTest {};

TEST_F(ThreadsTest, MoreThanThereCanBeAreAnError) {
  const ProgramResult result =
      shell(folder_.path(), "ulimit -v 2000000; exec '" XLM_FAKE_BINARY "' train run.yaml train.threads=4096");
  EXPECT_EQ(result.code, kOutOfResources);
  EXPECT_THAT(result.err, ::testing::HasSubstr("train.threads: this process can have"));
}

}  // namespace
}  // namespace xlm
