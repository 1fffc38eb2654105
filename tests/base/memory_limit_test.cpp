#include "base/memory_limit.h"

#include <limits>

#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace xlm {
namespace {

class MemoryLimit : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    create_folders((folder_.path() / file).parent_path());
    write_file(folder_.path() / file, text);
  }
  std::uint64_t limit() const { return memory_limit(folder_.path()); }

  TemporaryFolder folder_;
};

constexpr const char* kMachine = "MemTotal:       16000 kB\nMemFree:         900 kB\n";

TEST_F(MemoryLimit, IsTheMachinesIfNoGroupHasLess) {
  write("proc/meminfo", kMachine);
  EXPECT_EQ(limit(), 16000U * 1024);
  write("proc/self/cgroup", "0::/user.slice\n");
  write("sys/fs/cgroup/user.slice/memory.max", "max\n");
  EXPECT_EQ(limit(), 16000U * 1024);
}

TEST_F(MemoryLimit, IsThatOfAGroupOrItsParents) {
  write("proc/meminfo", kMachine);
  write("proc/self/cgroup", "0::/job_7/step_0\n");
  write("sys/fs/cgroup/job_7/memory.max", "5000000\n");
  write("sys/fs/cgroup/job_7/step_0/memory.max", "max\n");
  EXPECT_EQ(limit(), 5000000U);
  write("sys/fs/cgroup/job_7/step_0/memory.max", "4000000\n");
  EXPECT_EQ(limit(), 4000000U);
}

TEST_F(MemoryLimit, KnowsTheFirstVersionOfControlGroups) {
  write("proc/meminfo", kMachine);
  write("proc/self/cgroup", "7:cpu,cpuacct:/a\n4:hugetlb,memory:/slurm/job_7\nno such line\n");
  write("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "3000000\n");
  EXPECT_EQ(limit(), 3000000U);
}

TEST_F(MemoryLimit, IsNoneIfUnknown) { EXPECT_EQ(limit(), std::numeric_limits<std::uint64_t>::max()); }

TEST_F(MemoryLimit, OfThisMachineIsSome) {
  EXPECT_GT(memory_limit(), 1U << 28);
  EXPECT_LT(memory_limit(), std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace xlm
