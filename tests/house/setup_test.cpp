// scripts/setup.sh on a distribution that is too old, when it runs again, and with libraries from a folder.
#include <sys/wait.h>

#include <cstdlib>
#include <regex>
#include <string>
#include <utility>
#include <vector>

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
                           "'\nwhile [ $# -gt 1 ]; do case \"$2\" in "
                           "*-wheel) mkdir -p \"$2/plotly\" \"$2/pyarrow\" ;; "
                           "torch==*) of=.deps/python/torch-${2#torch==}.dist-info; mkdir -p $of; echo "
                           "'Requires-Dist: cuda-toolkit[cudart,cupti]==13.0.2; x' >$of/METADATA ;; "
                           "esac; shift; done");
    // The script defines the versions.
    const std::string script = read_file(root_ / "scripts/setup.sh");
    const auto version = [&](const std::string& of) {
      std::smatch match;
      EXPECT_TRUE(std::regex_search(script, match, std::regex("\n" + of + "=(\\S+)"))) << of;
      return match.str(1);
    };
    write_file(stamp("plotly-" + version("plotly_version")), "");
    write_file(stamp("pyarrow-" + version("pyarrow_version")), "");
    torch_ = "torch-" + version("pinned_torch");
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

TEST_F(SetUpAgain, InstallsTheHeadersOfTheToolkitThatTheWheelNamesWithEitherSet) {
  const auto has_headers = ::testing::HasSubstr("cuda-headers cuda-toolkit[crt,cccl]==13.0.2");
  EXPECT_THAT(setup("CUDA=1"), has_headers);
  fs::remove(installed());
  EXPECT_THAT(setup("CUDA=0"), has_headers);
  fs::remove(installed());
  write_file(stamp("cuda-headers"), "");
  EXPECT_THAT(setup("CUDA=1"), ::testing::Not(has_headers)) << "a build may be reading them";
  EXPECT_TRUE(fs::exists(stamp("cuda-headers")));
}

TEST_F(SetUpAgain, TakesAnotherVersionOfLibtorchUntilThePinnedOneIsAskedFor) {
  EXPECT_THAT(setup("TORCH=2.99.1"), ::testing::HasSubstr("torch==2.99.1"));
  EXPECT_TRUE(fs::exists(stamp("torch-2.99.1-cuda0"))) << "and so does a build, which runs setup without it:";
  const std::string before = read_file(installed());
  EXPECT_EQ(setup(), before);
  EXPECT_FALSE(fs::exists(stamp(torch_ + "-cuda0")));
  setup("TORCH=pinned");
  EXPECT_TRUE(fs::exists(stamp(torch_ + "-cuda0")));
  EXPECT_FALSE(fs::exists(stamp("torch-2.99.1-cuda0")));
  for (const char* wrong : {"2.10.0", "2.11", "newest", "'2.12.0; id'"}) {
    const std::string command = "PATH='" + (folder_.path() / "bin").string() + "':\"$PATH\" CUDA= TORCH=" + wrong +
                                " bash '" + (root_ / "scripts/setup.sh").string() + "' >/dev/null 2>&1";
    EXPECT_NE(std::system(command.c_str()), 0) << wrong;
  }
  EXPECT_TRUE(fs::exists(stamp(torch_ + "-cuda0"))) << "a version that cannot be taken changes nothing";
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

/// Libraries in a folder of the user's, as conda-forge and spack make it; Debian's packages are missing.
class SetUpFromAPrefix : public SetUpAgain {
 protected:
  SetUpFromAPrefix() {
    write_file(stamp(torch_ + "-cuda0"), "");
    program("dpkg-query", "echo not-installed");
    program("apt-get", "echo \"apt-get $@\" >>'" + installed().string() + "'");
    const std::string script = read_file(root_ / "scripts/setup.sh");
    const std::regex need(R"re(\n  "\S+ +(\S+) +\S+ +((bin|include)/\S+)")re");
    for (std::sregex_iterator found(script.begin(), script.end(), need), end; found != end; ++found) {
      needs_.emplace_back((*found)[1], (*found)[2]);
    }
  }
  /// Exit code of setup, and all that it said.
  std::pair<int, std::string> set_up() {
    const fs::path said = folder_.path() / "said";
    const std::string command = "PATH='" + (folder_.path() / "bin").string() + "':\"$PATH\" CUDA= XLM_PREFIX='" +
                                prefix_.string() + "' bash '" + (root_ / "scripts/setup.sh").string() + "' >'" +
                                said.string() + "' 2>&1";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), read_file(said)};
  }

  const fs::path prefix_ = folder_.path() / "libraries";
  std::vector<std::pair<std::string, std::string>> needs_;  // the package of conda-forge, and its file
};

TEST_F(SetUpFromAPrefix, NothingIsInstalledIfItHasAll) {
  ASSERT_GT(needs_.size(), 25U);
  for (const auto& [package, file] : needs_) {
    fs::create_directories((prefix_ / file).parent_path());
    if (file.starts_with("include/")) write_file(prefix_ / file, "");
    if (file.starts_with("bin/") && !fs::exists(folder_.path() / file)) program(file.substr(4), "true");
  }
  EXPECT_EQ(set_up(), std::pair(0, std::string()));
  EXPECT_FALSE(fs::exists(installed()));
}

TEST_F(SetUpFromAPrefix, WhatItLacksIsNamedOnceWithTheCommandsThatInstallIt) {
  for (const auto& [package, file] : needs_) {
    if (file == "include/re2/re2.h" || file == "include/SQLiteCpp/SQLiteCpp.h") continue;
    fs::create_directories((prefix_ / file).parent_path());
    if (file.starts_with("include/")) write_file(prefix_ / file, "");
    if (file.starts_with("bin/") && !fs::exists(folder_.path() / file)) program(file.substr(4), "true");
  }
  const auto [code, said] = set_up();
  EXPECT_EQ(code, 1);
  const std::string place = prefix_.string();
  EXPECT_THAT(said, ::testing::StartsWith("setup: " + place + " lacks, by the names of conda-forge: re2 sqlitecpp\n"));
  EXPECT_THAT(said, ::testing::HasSubstr("\n  micromamba create --yes --prefix " + place +
                                         " --channel conda-forge re2 sqlitecpp\n"));
  EXPECT_THAT(said, ::testing::HasSubstr("\n  spack install re2\n"));
  EXPECT_THAT(said, ::testing::HasSubstr("SQLiteCpp  # which spack does not have\n"));
  EXPECT_THAT(said, ::testing::HasSubstr("\n  make build XLM_PREFIX=" + place + "\n"));
  EXPECT_FALSE(fs::exists(installed()));
}

}  // namespace
}  // namespace xlm
