// A folder under construction.
#include "datasets/prepared/staging_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file_lock.h"
#include "base/staged_folder.h"

namespace xlm {
namespace {

bool same_file(int descriptor, const fs::path& path) {
  struct stat held {};
  struct stat named {};
  return ::fstat(descriptor, &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

}  // namespace

StagingFolder::StagingFolder(fs::path target) : target_(std::move(target)) {
  const fs::path name = target_.filename();
  if (name == "." || name == "..") target_ = fs::absolute(target_).lexically_normal();
  if (!target_.has_filename()) target_ = target_.parent_path();  // "data/text8/"
  target_ = behind_links(target_);                               // a link stays; its target is made
  const fs::path parent = folder_of(target_);
  create_folders(parent);
  path_ = parent / fmt::format(".{}.preparing", target_.filename().string());
  lock_file_ = parent / fmt::format(".{}.lock", target_.filename().string());
  // A lock taken just as its owner finished is on a deleted file: try the current one.
  while (!try_lock()) {
  }
  std::error_code error;
  fs::remove_all(path_, error);
  if (!error) fs::create_directory(path_, error);
  if (!error) return;
  release();
  throw_file_error("create the folder", path_, error.value());
}

bool StagingFolder::try_lock() {
  lock_ = ::open(lock_file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kNewFileMode);
  if (lock_ < 0) throw_file_error("create", lock_file_, errno);
  if (const LockResult result = try_lock_file(lock_); result != LockResult::kHeld) {
    const int error_number = errno;
    ::close(lock_);
    if (result == LockResult::kUnsupported) throw_file_error("lock", lock_file_, error_number);
    throw UsageError(fmt::format("another process is preparing {}\nwait until it has finished", target_.string()));
  }
  if (same_file(lock_, lock_file_)) return true;
  ::close(lock_);
  return false;
}

void StagingFolder::release() {
  ::unlink(lock_file_.c_str());  // while it is held: a process that opened it meanwhile notices
  ::close(lock_);
}

StagingFolder::~StagingFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  release();
}

void StagingFolder::remove_left(const fs::path& target) {
  const fs::path named = behind_links(target.has_filename() ? target : target.parent_path());  // "data/text8/"
  if (!fs::exists(folder_of(named) / fmt::format(".{}.lock", named.filename().string()))) return;
  try {
    const StagingFolder swept(target);
  } catch (const Error&) {
    // Another process is making it, or the folder is read-only.
  }
}

void StagingFolder::commit() {
  sync_folder(path_);
  replace_folder(path_, target_);  // an old folder is then at path_, and the destructor removes it
}

}  // namespace xlm
