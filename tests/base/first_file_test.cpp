// Files of which the first of several writers decides.
#include "base/first_file.h"

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

std::ptrdiff_t entries_of(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

TEST(FirstFile, KeepsWhatTheFirstWrote) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "trial-1.json";
  EXPECT_TRUE(write_first(file, "first"));
  EXPECT_FALSE(write_first(file, "second"));
  EXPECT_EQ(read_file(file), "first");
  EXPECT_EQ(entries_of(folder.path()), 1);
  EXPECT_THROW(write_first(folder.path() / "absent" / "file", "text"), DataError);
}

TEST(FirstFile, MayBeItsOwnersAlone) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "key";
  EXPECT_TRUE(write_first(file, "secret", {.mode = 0600, .durable = false}));
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(read_file(file), "secret");
}

TEST(FirstFile, OneOfManyWritersIsTheFirst) {
  const TemporaryFolder folder;
  for (int round = 0; round < 50; ++round) {
    const fs::path file = folder.path() / std::to_string(round);
    std::atomic<int> firsts = 0;
    std::atomic<int> winner = -1;
    std::vector<std::thread> writers;
    for (int i = 0; i < 4; ++i) {
      writers.emplace_back([&, i] {
        if (!write_first(file, std::to_string(i))) return;
        ++firsts;
        winner = i;
      });
    }
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(firsts, 1);
    EXPECT_EQ(read_file(file), std::to_string(winner));
  }
  EXPECT_EQ(entries_of(folder.path()), 50);
}

}  // namespace
}  // namespace xlm
