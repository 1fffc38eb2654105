// Other programs of the system, run to their end.
#include "base/command.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(Command, GivesBackWhatAProgramSaysAndHowItEnds) {
  const CommandResult result = run_command({"sh", "-c", "cat; echo said; echo complained >&2; exit 3"}, "given\n");
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "given\nsaid\n");
  EXPECT_EQ(result.err, "complained\n");
  EXPECT_EQ(run_command({"there-is-no-such-program"}).code, kNoProgram);
}

TEST(Command, ThatDoesNotEndIsKilled) { EXPECT_EQ(run_command({"sleep", "1000"}, "", 0.01).code, 128 + 9); }

}  // namespace
}  // namespace xlm
