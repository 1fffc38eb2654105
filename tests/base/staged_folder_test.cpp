#include "base/staged_folder.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace xlm {
namespace {

class StagedFolderTest : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }

  TemporaryFolder folder_;
};

TEST_F(StagedFolderTest, AppearsWholeWithoutLeftovers) {
  {
    const StagedFolder staged(path("run"), ".new-run");
    write_file(staged.path() / "a", "text");
    EXPECT_FALSE(fs::exists(path("run")));
    EXPECT_TRUE(staged.move_into_place());
  }
  EXPECT_EQ(read_file(path("run/a")), "text");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(StagedFolderTest, KeepsAnExistingFolder) {
  create_folders(path("run"));
  write_file(path("run/a"), "first");
  {
    const StagedFolder staged(path("run"), ".new-run");
    write_file(staged.path() / "a", "second");
    EXPECT_FALSE(staged.move_into_place());
  }
  EXPECT_EQ(read_file(path("run/a")), "first");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(StagedFolderTest, RemovesLeftoversOfKilledProcesses) {
  const auto left = [&](const std::string& name) {
    create_folders(path(name));
    write_file(path(name) / "half", "of it");
    fs::last_write_time(path(name), fs::file_time_type::clock::now() - std::chrono::hours(1));
  };
  left(".new-run.00000001");
  left(".new-other.00000001");
  left(".new-run.notes");
  create_folders(path(".new-run.00000002"));  // its process may not have locked it yet
  const StagedFolder first(path("run"), ".new-run");
  fs::last_write_time(first.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
  remove_left_folders(path("."), ".new-run");
  EXPECT_FALSE(fs::exists(path(".new-run.00000001")));
  EXPECT_TRUE(fs::exists(path(".new-other.00000001"))) << "it belongs to another target";
  EXPECT_TRUE(fs::exists(path(".new-run.00000002")));
  EXPECT_TRUE(fs::exists(first.path())) << "its process is still running";
}

TEST_F(StagedFolderTest, IsRemovedIfItWasNotMoved) {
  { const StagedFolder staged(path("deep/run"), ".new-run"); }
  EXPECT_TRUE(fs::is_empty(path("deep")));
}

TEST_F(StagedFolderTest, HasTheUsualPermissions) {
  const mode_t before = ::umask(002);
  const StagedFolder shared(path("shared"), ".new");
  ::umask(077);
  const StagedFolder own(path("own"), ".new");
  ::umask(before);
  EXPECT_EQ(fs::status(shared.path()).permissions(), fs::perms(0775));
  EXPECT_EQ(fs::status(own.path()).permissions(), fs::perms(0700));
}

TEST_F(StagedFolderTest, ReplacingExchangesTheTwo) {
  create_folders(path("new"));
  write_file(path("new/a"), "new");
  replace_folder(path("new"), path("data"));
  EXPECT_FALSE(fs::exists(path("new")));
  create_folders(path("newer"));
  write_file(path("newer/a"), "newer");
  replace_folder(path("newer"), path("data"));
  EXPECT_EQ(read_file(path("data/a")), "newer");
  EXPECT_EQ(read_file(path("newer/a")), "new");
}

TEST_F(StagedFolderTest, ReplacingALinkKeepsItsTarget) {
  create_folders(path("disk"));
  write_file(path("disk/a"), "old");
  fs::create_symlink("disk", path("data"));
  create_folders(path("new"));
  write_file(path("new/a"), "new");
  replace_folder(path("new"), path("data"));
  EXPECT_EQ(read_file(path("data/a")), "new");
  EXPECT_FALSE(fs::is_symlink(path("data")));
  EXPECT_EQ(read_file(path("disk/a")), "old");
}

}  // namespace
}  // namespace xlm
