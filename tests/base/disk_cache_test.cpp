// What is kept on disk is found again whole, or not at all.
#include "base/disk_cache.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/temporary_folder.h"

namespace xlm {
namespace {

class DiskCaches : public testing::Test {
 protected:
  static mode_t permissions(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 0777U;
  }

  const TemporaryFolder folder_;
  const fs::path place_ = folder_.path() / "cache" / "kernels";
  const DiskCache cache_{place_};
};

TEST_F(DiskCaches, FindWhatTheyKeep) {
  const std::string bytes("a\0b\n", 4);
  EXPECT_EQ(cache_.find("k1"), std::nullopt);
  cache_.keep("k1", bytes);
  cache_.keep("k2", "");
  EXPECT_EQ(cache_.find("k1"), bytes);
  EXPECT_EQ(cache_.find("k2"), "");
  EXPECT_EQ(cache_.find("k3"), std::nullopt);
  cache_.keep("k1", "newer");
  EXPECT_EQ(DiskCache(place_).find("k1"), "newer");
}

TEST_F(DiskCaches, DoNotFindWhatIsDamaged) {
  cache_.keep("k", "value");
  const std::string whole = read_file(place_ / "k");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_file(place_ / "k", whole.substr(0, length));
    EXPECT_EQ(cache_.find("k"), std::nullopt) << length << " bytes";
  }
  write_file(place_ / "k", whole + "x");
  EXPECT_EQ(cache_.find("k"), std::nullopt);
  cache_.keep("k", "value");
  EXPECT_EQ(cache_.find("k"), "value") << "a damaged file is replaced";
}

TEST_F(DiskCaches, KeepOthersOutWhateverTheUmask) {
  const mode_t before = ::umask(0);
  cache_.keep("k", "value");
  EXPECT_EQ(::umask(before), 0U) << "the umask is restored";
  EXPECT_EQ(permissions(place_ / "k"), 0644U);
  EXPECT_EQ(permissions(place_), 0755U);
  EXPECT_EQ(cache_.find("k"), "value");
  fs::permissions(place_ / "k", fs::perms::group_write, fs::perm_options::add);
  EXPECT_EQ(cache_.find("k"), std::nullopt) << "a group may have changed it";
  cache_.keep("k", "value");
  EXPECT_EQ(cache_.find("k"), "value");
  fs::permissions(place_, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(cache_.find("k"), std::nullopt) << "others may have put it there";
  cache_.keep("k2", "value");
  EXPECT_FALSE(fs::exists(place_ / "k2"));
}

TEST_F(DiskCaches, KeepNothingWhereTheyCannot) {
  write_file(folder_.path() / "file", "");
  const DiskCache below_a_file(folder_.path() / "file" / "cache");
  below_a_file.keep("k", "value");
  EXPECT_EQ(below_a_file.find("k"), std::nullopt);
  const DiskCache nowhere{fs::path()};
  nowhere.keep("k", "value");
  EXPECT_EQ(nowhere.find("k"), std::nullopt);
  EXPECT_FALSE(fs::exists("k"));
}

/// A process that finds no value, or half of one, ends with an error.
TEST_F(DiskCaches, AreSharedByProcesses) {
  const std::string value(300'000, 'v');
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool right = true;
      for (int round = 0; round < 6; ++round) {
        cache_.keep("k", value);
        right = right && cache_.find("k") == value;
      }
      ::_exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(place_), fs::directory_iterator()), 1) << "nothing else is left";
}

TEST(UserCache, IsWhereTheUserWantsIt) {
  const TemporaryFolder folder;
  const auto with = [](const char* name, const char* value) {
    if (value == nullptr) {
      ::unsetenv(name);
    } else {
      ::setenv(name, value, 1);
    }
  };
  std::vector<std::pair<const char*, std::optional<std::string>>> before;
  for (const char* name : {"XDG_CACHE_HOME", "HOME"}) {
    const char* value = std::getenv(name);
    before.emplace_back(name, value != nullptr ? std::optional<std::string>(value) : std::nullopt);
  }
  with("XDG_CACHE_HOME", "/somewhere");
  EXPECT_EQ(user_cache("kernels").string(), "/somewhere/xlm/kernels");
  with("XDG_CACHE_HOME", "relative");
  with("HOME", folder.path().c_str());
  EXPECT_EQ(user_cache("kernels").string(), (folder.path() / ".cache/xlm/kernels").string());
  with("HOME", "/does/not/exist");
  EXPECT_EQ(user_cache("kernels").string(), "");
  for (const auto& [name, value] : before) with(name, value ? value->c_str() : nullptr);
}

}  // namespace
}  // namespace xlm
