// A folder under construction.
#include "base/staged_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <random>

#include <fmt/format.h>

#include "base/file_lock.h"

namespace xlm {
namespace {

/// Makes a folder with a random name. mkdtemp would ignore the umask and deny others access.
fs::path make_folder(const fs::path& parent, const std::string& prefix) {
  std::random_device random;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    fs::path folder = parent / fmt::format("{}.{:08x}", prefix, random());
    if (::mkdir(folder.c_str(), 0777) == 0) return folder;
    if (errno != EEXIST) break;
  }
  throw_file_error("create a folder in", parent, errno);
}

/// A lock on a folder that ends with the process; none if another process has it, or if the file system has no such
/// locks.
Descriptor try_lock(const fs::path& folder) {
  Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.is_open() && try_lock_file(descriptor.get()) != LockResult::kHeld) descriptor.reset();
  return descriptor;
}

/// Renames a folder. A folder in the lower layer of an overlay cannot be renamed; its content then moves to a new one.
/// Returns 0 or the error number.
int move_folder(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return 0;
  if (errno != EXDEV || fs::is_symlink(from) || !fs::is_directory(from)) return errno;
  std::error_code error;
  fs::create_directory(to, error);
  for (const fs::directory_entry& entry : entries_in(from, error)) {
    const int error_number = move_folder(entry.path(), to / entry.path().filename());
    if (error_number != 0) return error_number;
  }
  if (!error) fs::remove(from, error);
  return error.value();
}

/// For file systems that cannot exchange folders. For a moment there is none at `to`; the old one lies next to it until
/// the new one is in its place.
void exchange_in_two_steps(const fs::path& from, const fs::path& to) {
  const fs::path aside = folder_of(to) / fmt::format(".{}.replaced", to.filename().string());
  std::error_code ignored;
  fs::remove_all(aside, ignored);
  if (const int error_number = move_folder(to, aside); error_number != 0) {
    throw_file_error("replace the folder", to, error_number);
  }
  if (::rename(from.c_str(), to.c_str()) != 0) {
    const int error_number = errno;
    fs::rename(aside, to, ignored);
    throw_file_error("create the folder", to, error_number);
  }
  fs::rename(aside, from, ignored);
}

}  // namespace

void remove_left_folders(const fs::path& parent, const std::string& prefix) {
  for (const fs::directory_entry& entry : entries_in(parent)) {
    const std::string name = entry.path().filename().string();
    const bool ours = name.starts_with(prefix + ".") && is_unfinished_name(name);
    if (!ours || !is_left_behind(entry.path())) continue;
    const Descriptor lock = try_lock(entry.path());
    if (!lock.is_open()) continue;
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
  }
}

StagedFolder::StagedFolder(fs::path target, const std::string& prefix) : target_(std::move(target)) {
  const fs::path parent = folder_of(target_);
  create_folders(parent);
  path_ = make_folder(parent, prefix);
  lock_ = try_lock(path_);
}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

bool StagedFolder::move_into_place() const {
  std::error_code error;
  fs::rename(path_, target_, error);
  if (!error) {
    sync_folder(folder_of(target_));
    return true;
  }
  // A client of a network file system may learn that the folder exists before it sees the folder.
  if (error == std::errc::directory_not_empty || fs::exists(target_)) return false;
  throw_file_error("create", target_, error.value());
}

void replace_folder(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR) throw_file_error("create the folder", to, errno);
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) {
      exchange_in_two_steps(from, to);
    }
  }
  sync_folder(folder_of(to));
}

}  // namespace xlm
