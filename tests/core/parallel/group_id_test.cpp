// The file by which the processes of a run join.
#include "core/parallel/group_id.h"

#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/needs.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

const std::string kId(128, '\x07');

class GroupId : public testing::Test {
 protected:
  Processes second(double patience = 60) const {
    return {.rank = 1, .count = 2, .meeting = folder_.path(), .patience = patience};
  }
  fs::path file() const { return folder_.path() / "group-id"; }
  std::string complaint() const {
    return thrown_message<Error>([&] { await_group_id(second(), kId.size()); });
  }

  TemporaryFolder folder_;
};

TEST_F(GroupId, ComesToThoseThatWaitAndGoesOnceAllHaveJoined) {
  std::string found;
  std::thread other([&] { found = await_group_id(second(), kId.size()); });
  const mode_t before = ::umask(0);
  {
    const GroupIdFile id(folder_.path(), kId);
    ::umask(before);
    struct stat status {};
    ASSERT_EQ(::lstat(file().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    EXPECT_EQ(status.st_uid, ::geteuid());
    other.join();
  }
  EXPECT_EQ(found, kId);
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(GroupId, IsWrittenIntoAFileOfItsOwnAlone) {
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::create_symlink(elsewhere, file());
  EXPECT_THAT(thrown_message<Error>([&] { GroupIdFile(folder_.path(), kId); }), HasSubstr("File exists"));
  EXPECT_FALSE(fs::exists(elsewhere)) << "a link is not followed";
  fs::remove(file());
  write_file(file(), "of another process");
  EXPECT_THAT(thrown_message<Error>([&] { GroupIdFile(folder_.path(), kId); }), HasSubstr("File exists"));
  EXPECT_EQ(read_file(file()), "of another process");
}

TEST_F(GroupId, OfAnotherUserIsNotBelieved) {
  write_file(file(), kId);
  for (const mode_t mode : {0604, 0640, 0620, 0660, 0602}) {
    ASSERT_EQ(::chmod(file().c_str(), mode), 0);
    EXPECT_THAT(complaint(), HasSubstr("is no file that this user alone can read and write")) << mode;
  }
  ASSERT_EQ(::chmod(file().c_str(), 0600), 0);
  EXPECT_EQ(complaint(), "");
  ASSERT_EQ(::link(file().c_str(), (folder_.path() / "second name").c_str()), 0);
  EXPECT_THAT(complaint(), HasSubstr("this user alone"));
  fs::rename(folder_.path() / "second name", folder_.path() / "private");
  fs::remove(file());
  fs::create_symlink(folder_.path() / "private", file());
  EXPECT_NE(complaint(), "") << "a link, though to a private file";
  fs::remove(file());
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  EXPECT_THAT(complaint(), HasSubstr("this user alone")) << "a pipe is not waited for";
}

TEST_F(GroupId, OfAnotherOwnerIsNotBelieved) {
  if (::geteuid() != 0) GTEST_SKIP() << needs::kRoot;
  write_file(file(), kId);
  ASSERT_EQ(::chmod(file().c_str(), 0600), 0);
  ASSERT_EQ(::chown(file().c_str(), 12345, 12345), 0);
  EXPECT_THAT(complaint(), HasSubstr("this user alone"));
}

TEST_F(GroupId, IsNotWaitedForForever) {
  const auto message = [&](const Processes& self) {
    return thrown_message<Error>([&] { await_group_id(self, kId.size()); });
  };
  EXPECT_EQ(message(second(0.05)), "process 2 of 2 did not meet the others: the first one did not come within 0.05 s");
  Processes asked = second();
  asked.should_stop = [] { return true; };
  EXPECT_THAT(message(asked), HasSubstr("one of them has ended, or was asked to stop"));
  Processes left = second();
  left.give_up = [] { return true; };
  EXPECT_THAT(message(left), HasSubstr("one of them has ended, or was asked to stop"));
  EXPECT_THROW(await_group_id(left, kId.size()), LostProcessError);
}

}  // namespace
}  // namespace xlm
