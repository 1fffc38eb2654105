// Copies of what programs have saved.
#include "experiments/runs/file_copy.h"

#include <sys/resource.h>

#include <csignal>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "experiments/runs/run_checkpoints.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

/// The exit code of what `work` throws while no file may be longer than `bytes`; kDone if it throws nothing.
ExitCode code_within(rlim_t bytes, const std::function<void()>& work) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit limit = before;
  limit.rlim_cur = bytes;
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ExitCode code = kDone;
  try {
    work();
  } catch (const Error& error) {
    code = error.code();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  return code;
}

TEST(FileCopy, AFolderIsCopiedWithItsLinksAndPermissions) {
  TemporaryFolder folder;
  const fs::path from = folder.path() / "from";
  create_folders(from / "checkpoints" / "deep");
  write_file(from / "checkpoints" / "deep" / "5.pt", std::string(3'000'000, 'x'));
  write_file(from / "checkpoints" / "run.sh", "exit 0\n");
  fs::permissions(from / "checkpoints" / "run.sh", fs::perms(0755));
  fs::create_symlink("deep/5.pt", from / "checkpoints" / "last.pt");
  const fs::path to = folder.path() / "to";
  for (int time = 1; time <= 2; ++time) {  // the second over what the first has made
    copy_checkpoints(from, to);
    const fs::path copied = to / "checkpoints";
    EXPECT_EQ(read_file(copied / "deep" / "5.pt"), read_file(from / "checkpoints" / "deep" / "5.pt"));
    EXPECT_EQ(fs::status(copied / "run.sh").permissions(), fs::perms(0755));
    EXPECT_EQ(fs::read_symlink(copied / "last.pt"), "deep/5.pt");
    EXPECT_EQ(fs::hard_link_count(copied / "deep" / "5.pt"), 1U);
  }
  EXPECT_THROW(copy_checkpoints(folder.path() / "nowhere", to), DataError);
}

TEST(FileCopy, WithoutRoomNoPartOfAFileIsLeft) {
  TemporaryFolder folder;
  create_folders(folder.path() / "from");
  const fs::path copied = folder.path() / "copied";
  write_file(folder.path() / "from" / "last.pt", std::string(3'000'000, 'x'));
  const auto copy = [&] { copy_folder(folder.path() / "from", copied); };
  EXPECT_EQ(code_within(1'000'000, copy), kOutOfResources);
  EXPECT_TRUE(fs::is_empty(copied));
}

TEST(FileCopy, AFileThatIsGoneNeedsNoSync) {
  TemporaryFolder folder;
  write_file(folder.path() / "last.pt", "x");
  sync_file(folder.path() / "last.pt");
  sync_file(folder.path() / "gone.pt");
}

}  // namespace
}  // namespace xlm
