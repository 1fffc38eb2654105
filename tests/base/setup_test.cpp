// scripts/setup.sh on a distribution that is too old.
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

TEST(Setup, AnOldCMakeIsRefusedInOneLineBeforeAnythingIsInstalled) {
  const TemporaryFolder folder;
  const fs::path cmake = folder.path() / "cmake";
  write_file(cmake, "#!/bin/sh\necho cmake version 3.22.1\n");
  fs::permissions(cmake, fs::perms::owner_all);
  const fs::path said = folder.path() / "said";
  const std::string command = "PATH='" + folder.path().string() +
                              "':\"$PATH\" bash '" XLM_SOURCE_DIR "/scripts/setup.sh' >'" + said.string() + "' 2>&1";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_EQ(read_file(said),
            "setup: CMake 3.22.1 is older than 3.25 (Ubuntu 22.04: pip install --upgrade pip cmake)\n");
}

}  // namespace
}  // namespace xlm
