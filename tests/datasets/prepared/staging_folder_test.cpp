#include "datasets/prepared/staging_folder.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Called just before a file is locked, for a test that needs that moment.
std::function<void()>& before_flock() {
  static std::function<void()> action;
  return action;
}

}  // namespace
}  // namespace xlm

/// Replaces the C library's function.
extern "C" int flock(int descriptor, int operation) noexcept {
  const std::function<void()> action = xlm::before_flock();
  if (action) action();
  return static_cast<int>(::syscall(SYS_flock, descriptor, operation));
}

namespace xlm {
namespace {

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

TEST(StagingFolder, AppearsWhole) {
  const TemporaryFolder folder;
  {
    StagingFolder staging(folder.path() / "a/out/");
    write_file(staging.path() / "x", "1");
    EXPECT_FALSE(fs::exists(folder.path() / "a/out"));
    staging.commit();
  }
  EXPECT_THAT(names_in(folder.path() / "a"), testing::ElementsAre("out"));
  EXPECT_EQ(read_file(folder.path() / "a/out/x"), "1");
}

TEST(StagingFolder, TheTargetMayBeThePresentFolder) {
  const TemporaryFolder folder;
  create_folders(folder.path() / "out/sub");
  fs::remove(folder.path() / "out/sub");
  {
    StagingFolder staging(folder.path() / "out" / ".");
    write_file(staging.path() / "x", "1");
    staging.commit();
  }
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("out"));
  EXPECT_TRUE(fs::exists(folder.path() / "out/x"));
}

TEST(StagingFolder, LeftoversOfAKilledProcessAreRemovedForAnySpellingOfTheTarget) {
  for (const char* target : {"out", "out/"}) {
    const TemporaryFolder folder;
    create_folders(folder.path() / ".out.preparing" / "half");
    write_file(folder.path() / ".out.lock", "");
    StagingFolder::remove_left(folder.path() / target);
    EXPECT_TRUE(fs::is_empty(folder.path())) << target;
  }
}

TEST(StagingFolder, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    const StagingFolder staging(folder.path() / "out");
    write_file(staging.path() / "x", "1");
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(StagingFolder, ReplacesAnOldFolder) {
  const TemporaryFolder folder;
  create_folders(folder.path() / "out");
  write_file(folder.path() / "out/old", "0");
  {
    StagingFolder staging(folder.path() / "out");
    write_file(staging.path() / "new", "1");
    staging.commit();
  }
  EXPECT_THAT(names_in(folder.path() / "out"), testing::ElementsAre("new"));
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("out"));
}

TEST(StagingFolder, IsForOneProcessAtATime) {
  const TemporaryFolder folder;
  {
    const StagingFolder first(folder.path() / "out");
    EXPECT_THAT([&] { StagingFolder second(folder.path() / "out"); },
                ThrowsMessage<UsageError>(HasSubstr("another process is preparing")));
    EXPECT_TRUE(fs::exists(first.path()));
    const StagingFolder other(folder.path() / "other");
  }
  EXPECT_NO_THROW(StagingFolder(folder.path() / "out"));
}

TEST(StagingFolder, ALockOnARemovedFileDoesNotCount) {
  const TemporaryFolder folder;
  const fs::path lock = folder.path() / ".out.lock";
  before_flock() = [&] {  // its owner finishes at this moment
    EXPECT_TRUE(fs::remove(lock));
    before_flock() = nullptr;
  };
  const StagingFolder first(folder.path() / "out");
  EXPECT_EQ(before_flock(), nullptr);
  EXPECT_TRUE(fs::exists(lock));
  EXPECT_THROW(StagingFolder(folder.path() / "out"), UsageError);
}

TEST(StagingFolder, ClearsLeftoversOfAKilledProcess) {
  const TemporaryFolder folder;
  create_folders(folder.path() / ".out.preparing");
  write_file(folder.path() / ".out.preparing/train.bin", "half");
  write_file(folder.path() / ".out.lock", "");
  {
    StagingFolder staging(folder.path() / "out");
    EXPECT_TRUE(fs::is_empty(staging.path()));
    staging.commit();
  }
  EXPECT_THAT(names_in(folder.path()), testing::ElementsAre("out"));
}

TEST(StagingFolder, ALinkStaysAndWhatItLeadsToIsMade) {
  const TemporaryFolder folder;
  create_folders(folder.path() / "elsewhere/out");
  fs::create_directory_symlink("elsewhere/out", folder.path() / "link");
  {
    StagingFolder staging(folder.path() / "link");
    write_file(staging.path() / "x", "1");
    staging.commit();
  }
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(read_file(folder.path() / "elsewhere/out/x"), "1");
  create_folders(folder.path() / "elsewhere/.out.preparing");
  write_file(folder.path() / "elsewhere/.out.lock", "");
  StagingFolder::remove_left(folder.path() / "link");
  EXPECT_THAT(names_in(folder.path() / "elsewhere"), testing::ElementsAre("out"));
}

TEST(StagingFolder, AFileInTheWayIsAnError) {
  const TemporaryFolder folder;
  write_file(folder.path() / "file", "x");
  EXPECT_THROW(StagingFolder(folder.path() / "file/out"), DataError);
}

}  // namespace
}  // namespace xlm
