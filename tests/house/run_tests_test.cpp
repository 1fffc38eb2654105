// scripts/run_tests.py counts what ctest runs, says why tests are skipped, and runs those again.
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// As GoogleTest does: one process with two tests, of which one wants the file `tex`. It notes the filter that it is
// given.
const char* const kMany = R"sh(
here=$(dirname "$0")
echo "[ RUN      ] A.Passes"
[ -z "$1" ] && echo "[       OK ] A.Passes (0 ms)"
echo "[ RUN      ] A.WantsTex/one"
echo "a_test.cpp:3: Skipped"
if [ -e "$here/tex" ]; then
  echo "[       OK ] A.WantsTex/one (5 ms)"
else
  echo "[latex] no TeX: make extras"
  echo
  echo "[  SKIPPED ] A.WantsTex/one (5 ms)"
fi
echo "$1" >"$here/filter"
)sh";
const char* const kOne = R"sh(
echo "[ RUN      ] B.Wants"
echo "[root] only root: sudo"
echo "[  SKIPPED ] B.Wants (0 ms)"
)sh";
const char* const kPytest = R"sh(
echo "SKIPPED [1] x_test.py:7: [readers] no pandas: make readers"
echo "3 passed, 1 skipped in 0.10s"
)sh";

class RunTests : public ::testing::Test {
 protected:
  RunTests() {
    script("many", kMany);
    script("one", kOne);
    script("python", kPytest);
    const std::string at = folder_.path().string();
    write_file(folder_.path() / "CTestTestfile.cmake",
               "add_test(a.part0 \"" + at + "/many\" \"\")\nadd_test(b.B.Wants \"" + at +
                   "/one\")\nadd_test(python.Some \"" + at + "/python\")\n" +
                   "set_tests_properties(b.B.Wants PROPERTIES SKIP_REGULAR_EXPRESSION \"SKIPPED\")\n");
  }

  void script(const std::string& name, const std::string& text) const {
    write_file(folder_.path() / name, "#!/bin/sh" + text);
    fs::permissions(folder_.path() / name, fs::perms(0755));
  }

  std::string run(const std::string& options, int expected_status = 0) const {
    const std::string said = (folder_.path() / "said").string();
    const std::string command = "python3 -B '" XLM_SOURCE_DIR "/scripts/run_tests.py' '" + folder_.path().string() +
                                "' " + options + " >'" + said + "' 2>&1";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), expected_status) << read_file(said);
    return read_file(said);
  }

  TemporaryFolder folder_;
};

TEST_F(RunTests, TheLastLineCountsTestsAndSaysWhySomeAreSkipped) {
  EXPECT_THAT(run(""), EndsWith("\n4 passed, 0 failed, 3 skipped: 1 latex (no TeX: make extras); "
                                "1 readers (no pandas: make readers); 1 root (only root: sudo)\n"));
}

TEST_F(RunTests, AFailureAndACrashCount) {
  script("one",
         "\necho '[ RUN      ] B.Wants'\necho '[  FAILED  ] B.Wants (0 ms)'\necho '[  FAILED  ] B.Wants'\nexit 1\n");
  script("many", "\necho '[ RUN      ] A.Passes'\necho '[       OK ] A.Passes (0 ms)'\nkill -SEGV $$\n");
  EXPECT_THAT(run("", 1), HasSubstr("\n4 passed, 2 failed, 1 skipped: "));
}

TEST_F(RunTests, WhatWasSkippedRunsAgainAlone) {
  run("");
  write_file(folder_.path() / "tex", "");
  EXPECT_THAT(run("--again latex"), EndsWith("1 passed, 0 failed, 0 skipped\n"));
  EXPECT_EQ(read_file(folder_.path() / "filter"), "--gtest_filter=A.WantsTex/one\n");
  EXPECT_THAT(run("--again latex", 1), HasSubstr("no test was skipped for latex")) << "it has passed";
  EXPECT_THAT(run("--again"), EndsWith("2 skipped: 1 readers (no pandas: make readers); 1 root (only root: sudo)\n"));
}

TEST_F(RunTests, ALabelThatIsAskedForMustBeThere) {
  run("");
  EXPECT_THAT(run("--again latex", 1), HasSubstr("A.WantsTex/one is skipped again: [latex] no TeX: make extras"));
}

}  // namespace
}  // namespace xlm
