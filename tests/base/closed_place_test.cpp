// Places that other users of a machine cannot change.
#include "base/closed_place.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/needs.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr fs::perms kShared = fs::perms(0775);
constexpr fs::perms kSticky = fs::perms(01777);
constexpr uid_t kStranger = 3001;

TEST(ClosedPlace, IsBelowFoldersThatOnlyTheOwnerMayWrite) {
  const TemporaryFolder folder;
  const fs::path inner = folder.path() / "a/b/c";
  create_folders(inner);
  write_file(inner / "file", "x");
  for (fs::path at = inner / "file"; at != folder.path(); at = at.parent_path()) {
    EXPECT_TRUE(is_closed_to_others(inner / "file")) << at;
    const fs::perms before = fs::status(at).permissions();
    for (const fs::perms more : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(at, before | more);
      EXPECT_FALSE(is_closed_to_others(inner / "file")) << at;
      EXPECT_FALSE(is_closed_to_others(at / "not/yet")) << at;
      fs::permissions(at, before);
    }
  }
  EXPECT_TRUE(is_closed_to_others(inner / "not/yet"));
  EXPECT_TRUE(is_closed_to_others(inner / "../c/file"));
  EXPECT_TRUE(is_closed_to_others("/usr/lib"));
}

TEST(ClosedPlace, IsInAStickyFolderButNotTheFolderItself) {
  const TemporaryFolder folder;
  create_folders(folder.path() / "tmp/mine");
  fs::permissions(folder.path() / "tmp", kSticky);
  EXPECT_TRUE(is_closed_to_others(folder.path() / "tmp/mine"));
  EXPECT_TRUE(is_closed_to_others(folder.path() / "tmp/not yet/inner"));
  EXPECT_FALSE(is_closed_to_others(folder.path() / "tmp"));
}

TEST(ClosedPlace, IsCheckedBehindEveryLink) {
  const TemporaryFolder folder;
  create_folders(folder.path() / "closed/inner");
  create_folders(folder.path() / "open/inner");
  fs::permissions(folder.path() / "open", kShared);
  const auto link = [&](const char* target, const char* name) {
    fs::create_symlink(target, folder.path() / name);
    return folder.path() / name;
  };
  EXPECT_TRUE(is_closed_to_others(link("closed", "good") / "inner"));
  EXPECT_TRUE(is_closed_to_others(link((folder.path() / "closed").c_str(), "absolute") / "inner"));
  EXPECT_FALSE(is_closed_to_others(link("open", "bad") / "inner"));
  EXPECT_FALSE(is_closed_to_others(link("bad/../closed", "through") / "inner"));
  EXPECT_FALSE(is_closed_to_others(link("open/link", "hops"))) << "other users can replace a link in an open folder";
  fs::create_symlink("../closed", folder.path() / "open/link");
  EXPECT_FALSE(is_closed_to_others(folder.path() / "hops/inner"));
  EXPECT_FALSE(is_closed_to_others(link("round", "round")));
  EXPECT_TRUE(is_closed_to_others(link("nowhere", "dangling")));
}

TEST(ClosedPlace, BelongsToThisUserOrToRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << needs::kRoot;
  const TemporaryFolder folder;
  create_folders(folder.path() / "theirs/inner");
  ASSERT_EQ(::chown((folder.path() / "theirs").c_str(), kStranger, kStranger), 0);
  EXPECT_FALSE(is_closed_to_others(folder.path() / "theirs/inner"));
  EXPECT_FALSE(is_closed_to_others(folder.path() / "theirs/not yet"));
  fs::permissions(folder.path(), kSticky);
  fs::create_symlink("mine", folder.path() / "link");
  create_folders(folder.path() / "mine");
  EXPECT_TRUE(is_closed_to_others(folder.path() / "link/file"));
  ASSERT_EQ(::lchown((folder.path() / "link").c_str(), kStranger, kStranger), 0);
  EXPECT_FALSE(is_closed_to_others(folder.path() / "link/file"));
  ASSERT_EQ(::seteuid(kStranger), 0);
  EXPECT_TRUE(is_closed_to_others(folder.path() / "theirs/inner"));
  ASSERT_EQ(::seteuid(0), 0);
}

TEST(ClosedPlace, IncludesFilesMadeUnderOwnerWrites) {
  const TemporaryFolder folder;
  const mode_t before = ::umask(0002);
  {
    const OwnerWrites unshared;
    create_folders(folder.path() / "folder");
    write_file(folder.path() / "file", "x");
  }
  write_file(folder.path() / "later", "x");
  ::umask(before);
  EXPECT_TRUE(is_closed_to_others(folder.path() / "folder"));
  EXPECT_TRUE(is_closed_to_others(folder.path() / "file"));
  EXPECT_FALSE(is_closed_to_others(folder.path() / "later"));
}

}  // namespace
}  // namespace xlm
