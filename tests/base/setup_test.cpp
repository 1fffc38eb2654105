// scripts/setup.sh on a distribution that is too old, and when it runs again.
#include <sys/wait.h>

#include <cstdlib>
#include <regex>
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

/// A checkout that has everything, on a machine with a CUDA compiler. What setup still installs is written to
/// `installed`.
class SetUpAgain : public ::testing::Test {
 protected:
  SetUpAgain() {
    fs::create_directories(root_ / "scripts");
    fs::copy_file(fs::path(XLM_SOURCE_DIR) / "scripts/setup.sh", root_ / "scripts/setup.sh");
    fs::create_directories(root_ / ".deps");
    program("cmake", "echo cmake version 3.25.1");
    program("dpkg-query", "echo installed");
    program("nvcc", "true");
    program("python3", "echo \"$@\" >>'" + installed().string() +
                           "'\nwhile [ $# -gt 1 ]; do case \"$2\" in *-wheel) "
                           "mkdir -p \"$2/plotly\" \"$2/pyarrow\" ;; esac; shift; done");
    // The script defines the versions.
    const std::string script = read_file(root_ / "scripts/setup.sh");
    const auto version = [&](const std::string& of) {
      std::smatch match;
      EXPECT_TRUE(std::regex_search(script, match, std::regex("\n" + of + "_version=(\\S+)"))) << of;
      return match.str(1);
    };
    write_file(stamp("plotly-" + version("plotly")), "");
    write_file(stamp("pyarrow-" + version("pyarrow")), "");
    headers_ = stamp("cuda-headers-" + version("crt") + "-" + version("cccl"));
    write_file(headers_, "");
    torch_ = "torch-" + version("torch");
  }

  void program(const std::string& name, const std::string& lines) {
    fs::create_directories(folder_.path() / "bin");
    write_file(folder_.path() / "bin" / name, "#!/bin/sh\n" + lines + "\n");
    fs::permissions(folder_.path() / "bin" / name, fs::perms::owner_all);
  }
  fs::path stamp(const std::string& name) const { return root_ / ".deps" / name; }
  fs::path installed() const { return folder_.path() / "installed"; }
  std::string setup(const std::string& settings = "", const std::string& arguments = "") {
    const std::string command = "PATH='" + (folder_.path() / "bin").string() + "':\"$PATH\" CUDA= " + settings +
                                " bash '" + (root_ / "scripts/setup.sh").string() + "' " + arguments +
                                " >/dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return fs::exists(installed()) ? read_file(installed()) : "";
  }

  TemporaryFolder folder_;
  fs::path root_ = folder_.path() / "a place with spaces";
  fs::path headers_;  // the stamp of the headers that CUDA's headers include
  std::string torch_;
};

bool has_gpu_driver() { return fs::exists("/proc/driver/nvidia/version"); }

TEST_F(SetUpAgain, TakesTheSmallSetDespiteACudaCompilerAndKeepsIt) {
  if (has_gpu_driver()) write_file(stamp(torch_ + "-cuda0"), "");
  setup();
  EXPECT_TRUE(fs::exists(stamp(torch_ + "-cuda0")));
  const std::string before = fs::exists(installed()) ? read_file(installed()) : "";
  EXPECT_EQ(setup(), before) << "once";
}

TEST_F(SetUpAgain, TakesTheCudaLibrariesIfAskedFor) {
  EXPECT_THAT(setup("CUDA=1"), ::testing::HasSubstr("torch=="));
  EXPECT_TRUE(fs::exists(stamp(torch_ + "-cuda1")));
  const std::string before = read_file(installed());
  EXPECT_EQ(setup(), before) << "they stay";
  EXPECT_THAT(setup("CUDA=0"), ::testing::HasSubstr("--no-deps torch=="));
  EXPECT_TRUE(fs::exists(stamp(torch_ + "-cuda0")));
}

TEST_F(SetUpAgain, InstallsCudasHeadersWithEitherSet) {
  write_file(stamp(torch_ + "-cuda0"), "");
  fs::remove(headers_);
  EXPECT_THAT(setup(), ::testing::HasSubstr("nvidia-cuda-crt=="));
  EXPECT_TRUE(fs::exists(headers_));
  EXPECT_TRUE(fs::exists(stamp(torch_ + "-cuda0")));
}

TEST_F(SetUpAgain, InstallsTheDisassemblerIfAskedFor) {
  write_file(stamp(torch_ + "-cuda0"), "");
  EXPECT_EQ(setup(), "");
  // The wheel's program has no permission to be run.
  program("python3", "echo \"$@\" >>'" + installed().string() +
                         "'\nmkdir -p .deps/nvdisasm/nvidia/cu13/bin\ntouch .deps/nvdisasm/nvidia/cu13/bin/nvdisasm");
  EXPECT_THAT(setup("DISASSEMBLER=1"), ::testing::HasSubstr("nvidia-cuda-nvdisasm=="));
  const fs::path made = root_ / ".deps/nvdisasm/nvidia/cu13/bin/nvdisasm";
  EXPECT_NE(fs::status(made).permissions() & fs::perms::owner_exec, fs::perms::none);
  const std::string before = read_file(installed());
  EXPECT_EQ(setup("DISASSEMBLER=1"), before) << "once";
}

TEST_F(SetUpAgain, RunsACommandWhileLibtorchIsFetched) {
  const fs::path done = folder_.path() / "done";
  const std::string command = "touch '" + done.string() + "'";
  write_file(stamp(torch_ + "-cuda0"), "");
  setup("", command);
  EXPECT_FALSE(fs::exists(done));
  fs::remove(stamp(torch_ + "-cuda0"));
  setup("CUDA=1", command);
  EXPECT_TRUE(fs::exists(done));
  EXPECT_TRUE(fs::exists(stamp(torch_ + "-cuda1")));
}

}  // namespace
}  // namespace xlm
