// When files in a folder count as a new checkpoint.
#include "experiments/worker/checkpoint_watch.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace xlm {
namespace {

TEST(CheckpointWatch, ACheckpointCountsOnceItStaysAsItIs) {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "deep" / "last.pt";
  EXPECT_FALSE(has_files(folder.path()));
  CheckpointWatch watch(folder.path());
  EXPECT_FALSE(watch.look(1));
  create_folders(file.parent_path());
  write_file(file, "half");
  EXPECT_FALSE(watch.look(2));
  write_file(file, "half and half");
  EXPECT_FALSE(watch.look(3));
  EXPECT_TRUE(watch.look(4));
  EXPECT_EQ(watch.step(), 2) << "that at which it was first seen";
  EXPECT_EQ(watch.file(), file);
  EXPECT_FALSE(watch.look(5));
  EXPECT_TRUE(has_files(folder.path()));
  CheckpointWatch later(folder.path());
  EXPECT_FALSE(later.look(6)) << "it was there before";
  fs::remove(file);
  EXPECT_FALSE(later.look(7, true)) << "nothing is left";
}

TEST(CheckpointWatch, ThatOfTheLastMomentCountsAtTheEnd) {
  TemporaryFolder folder;
  CheckpointWatch watch(folder.path());
  write_file(folder.path() / "last.pt", "x");
  EXPECT_TRUE(watch.look(9, true));
  EXPECT_EQ(watch.step(), 9);
  EXPECT_FALSE(watch.look(9, true));
}

TEST(CheckpointWatch, FilesThatChangeAtEveryLookCountNowAndThen) {
  TemporaryFolder folder;
  CheckpointWatch watch(folder.path());
  std::string content;
  int checkpoints = 0;
  for (int step = 1; step <= 2 * CheckpointWatch::kMaxChanges; ++step) {
    write_file(folder.path() / "last.pt", content += "x");
    checkpoints += watch.look(step) ? 1 : 0;
  }
  EXPECT_EQ(checkpoints, 2);
  EXPECT_EQ(watch.step(), CheckpointWatch::kMaxChanges + 1);
}

}  // namespace
}  // namespace xlm
