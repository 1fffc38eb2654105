// When files in a folder count as a new checkpoint.
#include "experiments/worker/checkpoint_watch.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

std::function<std::int64_t()> at(std::int64_t step) {
  return [step] { return step; };
}

TEST(CheckpointWatch, ACheckpointCountsOnceItStaysAsItIs) {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "deep" / "last.pt";
  EXPECT_FALSE(has_files(folder.path()));
  CheckpointWatch watch(folder.path());
  EXPECT_FALSE(watch.look(at(1)));
  create_folders(file.parent_path());
  write_file(file, "half");
  EXPECT_FALSE(watch.look(at(2)));
  write_file(file, "half and half");
  EXPECT_FALSE(watch.look(at(3)));
  EXPECT_TRUE(watch.look(at(4)));
  EXPECT_EQ(watch.step(), 3) << "that of the last change";
  EXPECT_EQ(watch.file(), file);
  EXPECT_FALSE(watch.look(at(5)));
  EXPECT_TRUE(has_files(folder.path()));
  CheckpointWatch later(folder.path());
  EXPECT_FALSE(later.look(at(6))) << "it was there before";
  fs::remove(file);
  EXPECT_FALSE(later.look(at(7), true)) << "nothing is left";
}

TEST(CheckpointWatch, WhatCannotBeReadIsNotEmpty) {
  TemporaryFolder folder;
  EXPECT_FALSE(has_files(folder.path() / "nothing"));
  const fs::path loop = folder.path() / "loop";
  fs::create_symlink("loop", loop);
  EXPECT_THROW(has_files(loop), Error);
  EXPECT_THROW(has_files(folder.path()), Error);
  fs::remove(loop);
  fs::create_symlink("/nowhere/checkpoints", loop);
  EXPECT_THROW(has_files(loop), DataError) << "its disk may be missing";
  EXPECT_THROW(has_files(folder.path()), DataError);
  write_file(folder.path() / "last.pt", "x");
  EXPECT_TRUE(has_files(folder.path())) << "a file is enough";
}

TEST(CheckpointWatch, FilesBehindLinksToFoldersCount) {
  TemporaryFolder folder;
  const fs::path checkpoints = folder.path() / "checkpoints";
  const fs::path disk = folder.path() / "disk";
  for (const fs::path& one : {checkpoints, disk}) create_folders(one);
  fs::create_symlink(disk, checkpoints / "elsewhere");
  fs::create_symlink("..", disk / "back");
  fs::create_symlink(checkpoints, disk / "again");
  CheckpointWatch watch(checkpoints);
  fs::remove(disk / "back");
  EXPECT_FALSE(has_files(checkpoints));
  write_file(disk / "last.pt", "x");
  EXPECT_TRUE(has_files(checkpoints));
  EXPECT_TRUE(watch.look(at(3), true));
  EXPECT_EQ(watch.file(), checkpoints / "elsewhere" / "last.pt");
  watch.sync();
}

TEST(CheckpointWatch, ThatOfTheLastMomentCountsAtTheEnd) {
  TemporaryFolder folder;
  CheckpointWatch watch(folder.path());
  write_file(folder.path() / "last.pt", "x");
  EXPECT_TRUE(watch.look(at(9), true));
  EXPECT_EQ(watch.step(), 9);
  EXPECT_FALSE(watch.look(at(9), true));
  write_file(folder.path() / "last.pt", "xy");
  EXPECT_FALSE(watch.look(at(10)));
  write_file(folder.path() / "last.pt", "xyz");
  EXPECT_TRUE(watch.look(at(20), true));
  EXPECT_EQ(watch.step(), 20) << "of the files that are left, not of those that were first seen";
}

TEST(CheckpointWatch, TheStepIsAskedBehindTheLook) {
  TemporaryFolder folder;
  CheckpointWatch watch(folder.path());
  EXPECT_FALSE(watch.look([&] {
    write_file(folder.path() / "last.pt", "x");
    return 4;
  })) << "not asked where nothing changed";
  write_file(folder.path() / "last.pt", "x");
  const auto reported_meanwhile = [&] {
    write_file(folder.path() / "last.pt", "xy");
    return 5;
  };
  EXPECT_FALSE(watch.look(reported_meanwhile));
  EXPECT_FALSE(watch.look(at(6))) << "what came behind the look is a change of the next one";
  EXPECT_TRUE(watch.look(at(7)));
  EXPECT_EQ(watch.step(), 6);
}

TEST(CheckpointWatch, FilesThatChangeAtEveryLookCountNowAndThen) {
  TemporaryFolder folder;
  CheckpointWatch watch(folder.path());
  std::string content;
  int checkpoints = 0;
  for (int step = 1; step <= 2 * CheckpointWatch::kMaxChanges; ++step) {
    write_file(folder.path() / "last.pt", content += "x");
    checkpoints += watch.look(at(step)) ? 1 : 0;
  }
  EXPECT_EQ(checkpoints, 2);
  EXPECT_EQ(watch.step(), 2 * CheckpointWatch::kMaxChanges) << "the file that is there has been saved last";
}

}  // namespace
}  // namespace xlm
