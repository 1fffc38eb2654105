#include "base/machine.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

class AvailableCores : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    create_folders((folder_.path() / path).parent_path());
    write_file(folder_.path() / path, text);
  }
  std::int64_t cores() const { return available_cores(folder_.path()); }

  TemporaryFolder folder_;
  const std::int64_t all_ = available_cores(folder_.path() / "nothing");  // by affinity alone
};

TEST_F(AvailableCores, AreNotMoreThanTheQuotaOfAContainer) {
  write("proc/self/cgroup", "0::/\n");
  EXPECT_EQ(cores(), all_);
  write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(cores(), all_);
  write("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(cores(), 1);
  write("sys/fs/cgroup/cpu.max", "100001 100000\n");
  EXPECT_EQ(cores(), std::min<std::int64_t>(all_, 2)) << "rounded up";
  write("sys/fs/cgroup/cpu.max", "6400000 50000\n");
  EXPECT_EQ(cores(), std::min<std::int64_t>(all_, 128));
}

TEST_F(AvailableCores, AGroupHasTheQuotasOfThoseThatHoldIt) {
  write("proc/self/cgroup", "0::/slurm/job/step\n");
  write("sys/fs/cgroup/slurm/job/step/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/slurm/cpu.max", "90000 100000\n");
  EXPECT_EQ(cores(), 1);
}

TEST_F(AvailableCores, TheFirstVersionOfControlGroupsHasQuotasToo) {
  write("proc/self/cgroup", "5:memory:/a\n3:cpu,cpuacct:/docker/abc\n0::/\n");
  EXPECT_EQ(cores(), all_);
  write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(cores(), all_);
  write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n");
  EXPECT_EQ(cores(), 1) << "a container sees its own group as the top";
}

TEST_F(AvailableCores, WhatCannotBeReadSetsNoLimit) {
  for (const char* text : {"", "max\n", "0 100000\n", "100000 0\n", "x y\n"}) {
    write("proc/self/cgroup", "0::/\nrubbish\n");
    write("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(cores(), all_) << text;
  }
}

class NamedGpus : public ::testing::Test {
 protected:
  NamedGpus() {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    ::unsetenv("NVIDIA_VISIBLE_DEVICES");
  }
  ~NamedGpus() override {
    for (const auto& [name, value] :
         {std::pair("CUDA_VISIBLE_DEVICES", cuda_), std::pair("NVIDIA_VISIBLE_DEVICES", nvidia_)}) {
      if (value) {
        ::setenv(name, value->c_str(), 1);
      } else {
        ::unsetenv(name);
      }
    }
  }
  static std::optional<std::string> variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }
  static std::optional<std::vector<std::string>> named(const char* value) {
    ::setenv("CUDA_VISIBLE_DEVICES", value, 1);
    return named_gpus();
  }

 private:
  const std::optional<std::string> cuda_ = variable("CUDA_VISIBLE_DEVICES");
  const std::optional<std::string> nvidia_ = variable("NVIDIA_VISIBLE_DEVICES");
};

TEST_F(NamedGpus, AreNumbersAndUuids) {
  EXPECT_EQ(named_gpus(), std::nullopt);
  EXPECT_THAT(named("1, 0"), Optional(ElementsAre("1", "0")));
  EXPECT_THAT(named("GPU-8932f937,MIG-GPU-1/2/3"), Optional(ElementsAre("GPU-8932f937", "MIG-GPU-1/2/3")));
}

TEST_F(NamedGpus, EndWhereAnEntryNamesNone) {
  for (const char* none : {"", "-1", "NoDevFiles", "none", "void", "no,0"})
    EXPECT_THAT(named(none), Optional(IsEmpty())) << none;
  EXPECT_THAT(named("2,-1,3"), Optional(ElementsAre("2")));
}

TEST_F(NamedGpus, AContainerWithoutGpusHasNone) {
  for (const char* none : {"void", "none"}) {
    ::setenv("NVIDIA_VISIBLE_DEVICES", none, 1);
    EXPECT_THAT(named_gpus(), Optional(IsEmpty())) << none;
    EXPECT_THAT(named("0"), Optional(IsEmpty())) << none;
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }
  ::setenv("NVIDIA_VISIBLE_DEVICES", "all", 1);
  EXPECT_EQ(named_gpus(), std::nullopt);
}

}  // namespace
}  // namespace xlm
