// Places that other users of a machine cannot change.
#include "base/closed_place.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <deque>
#include <fstream>

namespace xlm {
namespace {

/// In a user namespace (as in many containers) all owners from outside, root too, look the same.
bool is_owner_hidden(uid_t owner) {
  constexpr std::uint64_t kAllUsers = 4294967295;
  std::ifstream shown("/proc/sys/kernel/overflowuid");
  std::ifstream map("/proc/self/uid_map");
  uid_t hidden = 0;
  if (!(shown >> hidden) || !map) return false;
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t count = 0;  // an empty map names no user
  map >> inside >> outside >> count;
  return count != kAllUsers && owner == hidden;
}

bool is_trusted(uid_t owner) { return owner == 0 || owner == ::geteuid() || is_owner_hidden(owner); }

}  // namespace

bool is_link_of_another(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode) && !is_trusted(status.st_uid);
}

bool is_owned_by_this_user(const fs::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_uid == ::geteuid() && !is_owner_hidden(status.st_uid);
}

bool is_closed_to_others(const fs::path& path) {
  constexpr int kMaxLinks = 40;
  const fs::path whole = fs::absolute(path);
  std::deque<fs::path> left(whole.begin(), whole.end());
  fs::path at;
  for (int links = 0; !left.empty() && links <= kMaxLinks;) {
    const fs::path next = at / left.front();
    left.pop_front();
    struct stat status {};
    if (::lstat(next.c_str(), &status) != 0) return errno == ENOENT;
    if (!is_trusted(status.st_uid)) return false;
    if (S_ISLNK(status.st_mode)) {
      std::error_code error;
      const fs::path target = fs::read_symlink(next, error);
      if (error) return false;
      left.insert(left.begin(), target.begin(), target.end());
      ++links;
      continue;  // an absolute link replaces `at`
    }
    const bool open = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
    const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    if (open && (!sticky || left.empty())) return false;
    at = next;
  }
  return left.empty();
}

}  // namespace xlm
