// What is kept on disk is found again whole, or not at all.
#include "base/disk_cache.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "tests/needs.h"
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

/// What a process finds and says that looks for a value twice, once `prepare` has made it another user. Nullopt if that
/// was not possible.
std::optional<std::pair<bool, std::string>> found_as_another(const DiskCache& cache, const fs::path& said,
                                                             const std::function<bool()>& prepare) {
  constexpr int kFound = 1;
  constexpr int kNotPossible = 2;
  write_file(said, "");
  const pid_t child = ::fork();
  if (child == 0) {
    if (std::freopen(said.c_str(), "w", stderr) == nullptr || !prepare()) ::_exit(kNotPossible);
    const bool found = cache.find("k").has_value() || cache.find("k").has_value();
    ::_exit(found ? kFound : 0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) == kNotPossible) return std::nullopt;
  return std::pair(WEXITSTATUS(status) == kFound, read_file(said));
}

/// Root's files are closed to others, and yet no other user takes code from them.
TEST_F(DiskCaches, DoNotFindWhatAnotherUserOwns) {
  if (::geteuid() != 0) GTEST_SKIP() << needs::kRoot;
  constexpr uid_t kOtherUser = 3001;
  cache_.keep("k", "value");
  for (const fs::path& at : {folder_.path(), place_.parent_path(), place_}) fs::permissions(at, fs::perms(0755));
  fs::permissions(place_ / "k", fs::perms(0644));
  const auto itself = found_as_another(cache_, folder_.path() / "said", [] { return true; });
  ASSERT_TRUE(itself);
  EXPECT_TRUE(itself->first);
  EXPECT_EQ(itself->second, "");
  const auto stranger = found_as_another(cache_, folder_.path() / "said", [] { return ::seteuid(kOtherUser) == 0; });
  ASSERT_TRUE(stranger);
  EXPECT_FALSE(stranger->first);
  EXPECT_THAT(stranger->second, testing::StartsWith("note: " + place_.string() + " is not used, because another user"));
  EXPECT_EQ(stranger->second.find("note: "), stranger->second.rfind("note: ")) << "said once";
}

/// As in a container that names no user: this one's own files look like those of all others.
TEST_F(DiskCaches, DoNotFindWhatMayBeAnyonesInAUserNamespace) {
  cache_.keep("k", "value");
  const auto found = found_as_another(cache_, folder_.path() / "said", [] { return ::unshare(CLONE_NEWUSER) == 0; });
  if (!found) GTEST_SKIP() << needs::kNamespaces;
  EXPECT_FALSE(found->first);
  EXPECT_THAT(found->second, testing::HasSubstr("does not tell owners apart"));
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
