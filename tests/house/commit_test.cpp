// scripts/commit.cmake, which writes the commit for `xlm --version` at every build.
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

TEST(Commit, IsFromTheBuildNotTheConfiguration) {
  const TemporaryFolder folder;
  const std::string place = "cd '" + folder.path().string() + "' && ";
  const std::string git = "git -c user.name=x -c user.email=x@example.org -c commit.gpgsign=false ";
  const auto run = [&](const std::string& command) {
    ASSERT_EQ(std::system((place + "{ " + command + "; } >/dev/null 2>&1").c_str()), 0) << command;
  };
  const auto described = [&]() -> std::string {
    run("cmake -D SOURCE=. -D OUT=\"$PWD/commit.cpp\" -D GIT=git -P '" XLM_SOURCE_DIR "/scripts/commit.cmake'");
    return read_file(folder.path() / "commit.cpp");
  };
  run("git init -q && echo commit.cpp >.gitignore && git add .gitignore && " + git +
      "commit -q -m one && git tag first");
  const std::string first = described();
  const auto written = fs::last_write_time(folder.path() / "commit.cpp");
  EXPECT_EQ(described(), first);
  EXPECT_EQ(fs::last_write_time(folder.path() / "commit.cpp"), written) << "without a change nothing is compiled again";
  run("echo changed >>.gitignore");
  EXPECT_THAT(described(), HasSubstr("+\";"));
  run(git + "commit -q -a -m two");
  const std::string second = described();
  EXPECT_NE(second, first);
  EXPECT_EQ(second.find("+\";"), std::string::npos);
}

TEST(Commit, OutsideARepositoryIsUnknown) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "commit.cpp";
  const std::string command = "cmake -D SOURCE='" + folder.path().string() + "' -D OUT='" + out.string() +
                              "' -D GIT=git -P '" XLM_SOURCE_DIR "/scripts/commit.cmake' >/dev/null 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  EXPECT_THAT(read_file(out), HasSubstr("kCommit = \"unknown\""));
}

}  // namespace
}  // namespace xlm
