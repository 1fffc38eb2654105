// Checkpoints survive corruption and keep only the newest.
#include "core/train/checkpoint.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/error.h"
#include "core/api/checkpoint_files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

Checkpoint checkpoint_of(std::int64_t step) {
  return {.step = step, .tensors = {{"w", torch::full({4}, static_cast<double>(step))}}, .state = {{"note", "n"}}};
}

void flip_last_byte(const fs::path& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(-1, std::ios::end);
  stream.put('\x55');
}

TEST(Checkpoint, TheNewestTwoAreKept) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path() / "checkpoints");
  for (const std::int64_t step : {5, 10, 15, 1000000000}) checkpoints.save(checkpoint_of(step));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path() / "checkpoints"))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"step-000000015.safetensors", "step-1000000000.safetensors"}));
  const auto newest = checkpoints.load_newest([](const std::string& text) { ADD_FAILURE() << text; });
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->step, 1000000000);
  EXPECT_EQ(newest->state.at("note"), "n");
  EXPECT_TRUE(torch::equal(newest->tensors.front().second, torch::full({4}, 1e9)));
}

TEST(Checkpoint, ACorruptNewestFallsBackToTheOneBefore) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  checkpoints.save(checkpoint_of(1));
  flip_last_byte(checkpoints.save(checkpoint_of(2)));
  std::vector<std::string> warnings;
  const auto newest = checkpoints.load_newest([&](const std::string& text) { warnings.push_back(text); });
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->step, 1);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings.front().find("step-000000002"), std::string::npos) << warnings.front();
}

TEST(Checkpoint, DamagedOnesOfLaterStepsTakeNoPlaceOfNewOnes) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path(), 10);
  for (const std::int64_t step : {10, 15, 20}) checkpoints.save(checkpoint_of(step));
  for (const std::int64_t step : {10, 15, 20}) flip_last_byte(folder.path() / checkpoint_name(step));
  std::vector<std::string> warnings;
  EXPECT_FALSE(checkpoints.load_newest([&](const std::string& text) { warnings.push_back(text); }));
  ASSERT_EQ(warnings.size(), 3U);
  EXPECT_NE(warnings[1].find("resuming from the checkpoint before"), std::string::npos) << warnings[1];
  EXPECT_NE(warnings[2].find("no other is left: training begins again"), std::string::npos) << warnings[2];
  for (const std::int64_t step : {5, 9}) {
    EXPECT_TRUE(fs::exists(checkpoints.save(checkpoint_of(step))));
    const auto newest = checkpoints.load_newest([](const std::string& text) { ADD_FAILURE() << text; });
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->step, step);
  }
}

TEST(Checkpoint, AFolderThatCannotBeReadIsNotEmpty) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path() / "loop");
  fs::remove(folder.path() / "loop");
  fs::create_symlink("loop", folder.path() / "loop");
  EXPECT_THROW(checkpoints.load_newest([](const std::string&) {}), Error);
}

TEST(Checkpoint, OneWithoutAHashIsSkipped) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  checkpoints.save(checkpoint_of(1));
  const fs::path file = checkpoints.save(checkpoint_of(2));
  std::string bytes = read_file(file);
  bytes.at(bytes.find("xlm.sha256")) = 'y';
  bytes.back() = '\x55';  // what the hash would have shown
  write_file(file, bytes);
  std::vector<std::string> warnings;
  const auto newest = checkpoints.load_newest([&](const std::string& text) { warnings.push_back(text); });
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->step, 1);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings.front().find("has lost the hash"), std::string::npos) << warnings.front();
}

TEST(Checkpoint, TruncatedAndForeignFilesAreSkipped) {
  const TemporaryFolder folder;
  const CheckpointFolder checkpoints(folder.path());
  const fs::path file = checkpoints.save(checkpoint_of(3));
  fs::resize_file(file, fs::file_size(file) / 2);
  write_file(folder.path() / "step-000000009.safetensors", "not a checkpoint");
  write_file(folder.path() / "notes.txt", "nothing of ours");
  int warnings = 0;
  EXPECT_FALSE(checkpoints.load_newest([&](const std::string&) { ++warnings; }));
  EXPECT_EQ(warnings, 2);
}

TEST(Checkpoint, NoFolderNoCheckpoint) {
  const TemporaryFolder folder;
  EXPECT_FALSE(CheckpointFolder(folder.path() / "new").load_newest([](const std::string&) {}));
}

}  // namespace
}  // namespace xlm
