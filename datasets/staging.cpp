// A folder under construction.
#include "datasets/staging.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include <fmt/format.h>

#include "base/error.h"

namespace xlm {
namespace {

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

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
  const fs::path parent = folder_of(target_);
  create_folders(parent);
  path_ = parent / fmt::format(".{}.preparing", target_.filename().string());
  lock_file_ = parent / fmt::format(".{}.lock", target_.filename().string());
  // A lock taken just as its owner finished is on a file that is gone: try again on the present one.
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
  lock_ = ::open(lock_file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) throw_file_error("create", lock_file_, errno);
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    const int error_number = errno;
    ::close(lock_);
    if (error_number != EWOULDBLOCK) throw_file_error("lock", lock_file_, error_number);
    throw UsageError(fmt::format("another process is preparing {}\nwait until it has finished", target_.string()));
  }
  if (same_file(lock_, lock_file_)) return true;
  ::close(lock_);
  return false;
}

void StagingFolder::release() {
  ::unlink(lock_file_.c_str());  // while it is held: whoever opened it meanwhile sees that it is gone
  ::close(lock_);
}

StagingFolder::~StagingFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  release();
}

void StagingFolder::commit() {
  sync_folder(path_);
  std::error_code ignored;
  if (::rename(path_.c_str(), target_.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) throw_file_error("create the folder", target_, errno);
    // There is an old folder: exchange the two, so that the destructor removes the old one.
    if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) {
      fs::remove_all(target_, ignored);  // a file system that cannot exchange: for a moment there is none
      if (::rename(path_.c_str(), target_.c_str()) != 0) throw_file_error("create the folder", target_, errno);
    }
  }
  sync_folder(folder_of(target_));
}

}  // namespace xlm
