// Copies of the program for workers: where they lie, and who could change them.
#include "experiments/worker/pinned_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <optional>

#include <gmock/gmock.h>

#include "base/closed_place.h"
#include "base/error.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A built program, and a folder of runs that a group shares.
class PinnedProgram : public ::testing::Test {
 protected:
  PinnedProgram() {
    for (const char* name : {"XDG_CACHE_HOME", "HOME", "TMPDIR"}) {
      const char* const value = std::getenv(name);
      before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      create_folders(at(name));
      ::setenv(name, at(name).c_str(), 1);
    }
    create_folders(at("build/bin"));
    create_folders(at("build/lib"));
    create_folders(at("runs"));
    create_folders(at("shared"));
    fs::permissions(at("shared"), fs::perms(02775));
    write_file(at("build/bin/xlm"), "program");
    write_file(at("build/lib/libxlm_core.so"), "core");
    for (const char* file : {"build/bin/xlm", "build/lib/libxlm_core.so"}) fs::permissions(at(file), fs::perms(0775));
  }
  ~PinnedProgram() override {
    for (const auto& [name, value] : before_) {
      if (value) ::setenv(name.c_str(), value->c_str(), 1);
      if (!value) ::unsetenv(name.c_str());
    }
  }

  fs::path at(const std::string& name) const { return folder_.path() / name; }
  ProgramFiles program() const { return {at("build/bin/xlm"), at("build/lib/libxlm_core.so")}; }
  fs::path pin(const std::string& runs, Machines machines = Machines::kThisOne) const {
    return pin_program(program(), at(runs), machines);
  }

  static bool is_below(const fs::path& file, const fs::path& folder) {
    return file.string().starts_with(folder.string() + "/");
  }

  TemporaryFolder folder_;
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(PinnedProgram, IsCopiedOnceAndKeepsItsContent) {
  const fs::path first = pin("runs");
  EXPECT_TRUE(is_below(first, at("runs/.programs")));
  EXPECT_EQ(pinned_place(program(), at("runs")), first);
  const fs::file_time_type written = fs::last_write_time(first);
  EXPECT_EQ(pin("runs"), first);
  EXPECT_EQ(fs::last_write_time(first), written);
  EXPECT_EQ(read_file(first.parent_path().parent_path() / "lib" / "libxlm_core.so"), "core");
  write_file(at("build/bin/xlm"), "built again");
  const fs::path second = pin("runs");
  EXPECT_NE(second, first);
  EXPECT_EQ(read_file(first), "program");
}

TEST_F(PinnedProgram, LiesWhereItsOwnerAloneWritesWhateverTheUmask) {
  const mode_t before = ::umask(0002);
  for (const char* runs : {"runs", "shared"}) {
    const fs::path copy = pin(runs);
    for (const auto& entry : fs::recursive_directory_iterator(copy.parent_path().parent_path())) {
      EXPECT_TRUE(is_closed_to_others(entry.path())) << entry.path();
    }
    EXPECT_EQ(fs::status(copy).permissions(), fs::perms(0755));
  }
  write_file(at("later"), "x");
  ::umask(before);
  EXPECT_EQ(fs::status(at("later")).permissions(), fs::perms(0664)) << "the umask is the user's again";
}

TEST_F(PinnedProgram, OfASharedFolderLiesInTheUsersCache) {
  for (const Machines machines : {Machines::kThisOne, Machines::kSeveral}) {
    EXPECT_TRUE(is_below(pin("shared", machines), at("XDG_CACHE_HOME/xlm/programs")));
    EXPECT_TRUE(is_below(pin("shared/inner", machines), at("XDG_CACHE_HOME"))) << "others can rename the folder";
  }
  EXPECT_FALSE(fs::exists(at("shared/.programs")));
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_TRUE(is_below(pin("shared"), at("HOME/.cache/xlm/programs")));
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_TRUE(is_below(pin("shared", Machines::kSeveral), at("HOME/.cache/xlm/programs")));
}

TEST_F(PinnedProgram, WithoutACacheLiesAmongTheTemporaryFilesOfOneMachine) {
  const auto refuses = [&](Machines machines) {
    EXPECT_THAT([&] { pin("shared", machines); }, ThrowsMessage<UsageError>(HasSubstr("set XDG_CACHE_HOME")));
  };
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", "/nonexistent", 1);
  EXPECT_TRUE(is_below(pin("shared"), at("TMPDIR/xlm-" + std::to_string(::geteuid()))));
  refuses(Machines::kSeveral);
  ::setenv("HOME", at("shared").c_str(), 1);
  refuses(Machines::kSeveral);
  fs::permissions(at("TMPDIR"), fs::perms(0777));
  refuses(Machines::kThisOne);
  fs::permissions(at("TMPDIR"), fs::perms(01777));
  EXPECT_TRUE(is_below(pin("shared"), at("TMPDIR")));
}

/// As another user could have left it while the folder was open to a group.
TEST_F(PinnedProgram, ThatAnotherCouldHaveChangedIsMadeAnew) {
  const fs::path copy = pin("runs");
  const fs::path top = copy.parent_path().parent_path();
  const auto expect_it_is_mended = [&](const std::string& what) {
    EXPECT_EQ(pin("runs"), copy) << what;
    EXPECT_EQ(read_file(copy), "program") << what;
    std::size_t entries = 0;
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      EXPECT_TRUE(is_closed_to_others(entry.path())) << what;
      ++entries;
    }
    EXPECT_EQ(entries, 4U) << what;
  };
  write_file(copy, "evil");
  expect_it_is_mended("another content");
  write_file(top / "lib/libz.so.1", "evil");
  expect_it_is_mended("a library that the program would open");
  create_folders(top / "lib/glibc-hwcaps");
  write_file(top / "lib/glibc-hwcaps/libz.so.1", "evil");
  expect_it_is_mended("a folder that the loader looks into");
  fs::permissions(top / "lib", fs::perms(0775));
  expect_it_is_mended("a folder in which a group writes");
  fs::permissions(copy, fs::perms(0777));
  expect_it_is_mended("a file that all write");
  fs::rename(top / "lib", at("lib"));
  fs::create_directory_symlink(at("lib"), top / "lib");
  expect_it_is_mended("a link in place of a folder");
  fs::rename(copy, at("xlm"));
  fs::create_symlink(at("xlm"), copy);
  expect_it_is_mended("a link in place of the program");
  ASSERT_EQ(::mkfifo((top / "lib/libz.so.1").c_str(), 0600), 0);
  expect_it_is_mended("a pipe");
  if (::geteuid() != 0) return;  // only root can give a file to another
  ASSERT_EQ(::chown(copy.c_str(), 3001, 3001), 0);
  expect_it_is_mended("another's file");
}

}  // namespace
}  // namespace xlm
