// Writes a file unless another process was first.
#include "base/first_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <random>

#include <fmt/format.h>

namespace xlm {
namespace {

/// Returns 0 or the error number.
int write_whole(const fs::path& file, std::string_view content, const FirstFile& how) {
  const Descriptor descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, how.mode));
  if (!descriptor.is_open()) return errno;
  const ssize_t written = ::write(descriptor.get(), content.data(), content.size());
  if (written < 0) return errno;
  if (written != static_cast<ssize_t>(content.size())) return ENOSPC;
  return how.durable && ::fsync(descriptor.get()) != 0 ? errno : 0;
}

/// Gives `whole` the name `path`. Unlike a rename, a link never replaces a file. Over NFS too, only one of several
/// succeeds. Returns 0 or the error number.
int name_it(const fs::path& whole, const fs::path& path, const FirstFile& how) {
  if (::link(whole.c_str(), path.c_str()) == 0) return 0;
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
  // A file system without links. Who makes the name, empty, may replace it.
  const int empty = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, how.mode);
  if (empty < 0) return errno;
  ::close(empty);
  return ::rename(whole.c_str(), path.c_str()) == 0 ? 0 : errno;
}

}  // namespace

bool write_first(const fs::path& path, std::string_view content, const FirstFile& how) {
  std::error_code ignored;
  if (fs::exists(path, ignored)) return false;
  std::random_device random;
  // The name of an unfinished file (see is_unfinished_name), which others remove after a kill.
  const fs::path whole = folder_of(path) / fmt::format(".{}.{:08x}", path.filename().string(), random());
  int error = write_whole(whole, content, how);
  if (error == 0) error = name_it(whole, path, how);
  ::unlink(whole.c_str());
  if (error == EEXIST) return false;
  if (error != 0) throw_file_error(how.doing, path, error);
  if (how.durable) sync_folder(folder_of(path));
  return true;
}

}  // namespace xlm
